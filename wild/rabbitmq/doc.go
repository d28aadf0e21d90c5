// Package rabbitmq runs the controller of the released RabbitMQ Cluster Operator, unmodified, under faults with simtest.
package rabbitmq
