// Command informersim-apiserver serves the fake apiserver over HTTP. It implements `informersim serve`, which finds or builds it and
// starts it (package launcher). It is a separate program because it links the libraries of a real apiserver,
// three times as many packages as informersim, and running a scenario should not require compiling them.
//
// It owns listeners, the kubeconfig, the control endpoints and the file of a session. It may decide nothing about answers: those
// are fakeapiserver's. Its flags are declared in serveflags, so that informersim can check them and show their help without it.
package main
