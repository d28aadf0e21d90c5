// Command driver explores the program that it is linked into: it runs generated scenarios with all properties, seed after seed,
// until one breaks. Package mutation links it with a mutant and reads its answers, lines of JSON.
package main
