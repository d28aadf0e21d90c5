package dropin

// UndeltaStore is a Store that passes its whole content to a function after every change. With several writing goroutines
// the function may get the same content twice; it must be safe for concurrent use.
type UndeltaStore struct {
	Store
	PushFunc func([]any)
}

var _ Store = (*UndeltaStore)(nil)

// NewUndeltaStore returns an empty store.
func NewUndeltaStore(pushFunc func([]any), keyFunc KeyFunc) *UndeltaStore {
	return &UndeltaStore{Store: NewStore(keyFunc), PushFunc: pushFunc}
}

// Add stores an object and pushes.
func (u *UndeltaStore) Add(obj any) error { return u.push(u.Store.Add(obj)) }

// Update stores an object and pushes.
func (u *UndeltaStore) Update(obj any) error { return u.push(u.Store.Update(obj)) }

// Delete removes an object and pushes.
func (u *UndeltaStore) Delete(obj any) error { return u.push(u.Store.Delete(obj)) }

// Replace replaces the content with list and pushes.
func (u *UndeltaStore) Replace(list []any, resourceVersion string) error {
	return u.push(u.Store.Replace(list, resourceVersion))
}

func (u *UndeltaStore) push(err error) error {
	if err == nil {
		u.PushFunc(u.Store.List())
	}
	return err
}
