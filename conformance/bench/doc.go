// Package bench measures an apiserver from the client's side: creates, lists, paged lists and watches fanned out. The
// same measurements run on a real server and on a fake one, over sockets or in process, so that they can be compared.
//
// It owns no server but the fake one without a transport (Direct), and prints nothing. Its clients do as little as possible:
// they count the bytes and lines of answers and do not decode them.
package bench
