// Package garbage decides how often the garbage of runs is collected, in processes that make many.
package garbage
