package ginkgosuite_test

import (
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/informersim/informersim/scenarios/ginkgosuite"
)

var _ = ginkgosuite.Register("testdata/sims/*.sim", ginkgosuite.Options{Seeds: 5, Mix: "default"})

func TestSuite(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "scenarios of a user")
}
