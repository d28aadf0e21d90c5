package timeline

// stopped takes in that an informer was stopped: what it and its handlers have is still there to be read, but nothing that waits comes.
func (b *builder) stopped(i *informer) {
	b.mark(i.reflector, ShapeEvent)
	b.set(b.part(i.reflector, PartReflector), "does", 0, "is stopped")
	queue := b.part(i.queue, PartQueue)
	for _, key := range sortedKeys(i.pending) {
		b.drop(queue, key)
	}
	i.pending, i.order, i.streaming = map[string][]delta{}, nil, 0
	for _, h := range i.handlers {
		ring := b.part(h.lane, PartRing)
		for _, key := range sortedKeys(h.ring) {
			b.drop(ring, key)
		}
		h.ring = map[string][]delta{}
	}
}

// restarted takes in that an informer begins another life, on the lanes of the one before: it has nothing, and its handlers were told nothing.
func (b *builder) restarted(i *informer) {
	b.mark(i.reflector, ShapeEvent)
	b.set(b.part(i.reflector, PartReflector), "does", 0, "is started again")
	indexer := b.part(i.indexer, PartIndexer)
	for _, key := range sortedKeys(i.has) {
		b.drop(indexer, key)
	}
	i.has = map[string]held{}
	for _, h := range i.handlers {
		told := b.part(h.lane, PartTold)
		for _, key := range sortedKeys(h.told) {
			b.drop(told, key)
		}
		h.told = nil
	}
}
