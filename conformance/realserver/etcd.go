package realserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// etcdStartTimeout bounds the election of the single member, which takes tens of milliseconds.
const etcdStartTimeout = 30 * time.Second

// etcd is one embedded member and a client of it.
type etcd struct {
	member *embed.Etcd
	client *clientv3.Client
	url    string
}

// startEtcd starts a single member that keeps its data in dir.
func startEtcd(ctx context.Context, dir string, fsync bool) (*etcd, error) {
	cfg := embed.NewConfig()
	cfg.Dir = dir
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	cfg.UnsafeNoFsync = !fsync
	// A single member has no peers to wait for: short ticks make it leader at once.
	cfg.TickMs, cfg.ElectionMs = 10, 50
	anyPort := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	cfg.ListenClientUrls = []url.URL{anyPort}
	cfg.AdvertiseClientUrls = []url.URL{anyPort}
	cfg.ListenPeerUrls = []url.URL{anyPort}
	cfg.AdvertisePeerUrls = []url.URL{anyPort}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	member, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, fmt.Errorf("start etcd in %s: %w", dir, err)
	}
	select {
	case <-member.Server.ReadyNotify():
	case err := <-member.Err():
		member.Close()
		return nil, fmt.Errorf("etcd stopped while starting: %w", err)
	case <-ctx.Done():
		member.Close()
		return nil, fmt.Errorf("wait for etcd: %w", ctx.Err())
	case <-time.After(etcdStartTimeout):
		member.Close()
		return nil, fmt.Errorf("etcd not ready after %v", etcdStartTimeout)
	}
	address := "http://" + member.Clients[0].Addr().String()
	client, err := clientv3.New(clientv3.Config{
		Endpoints:   []string{address},
		DialTimeout: etcdStartTimeout,
		Logger:      zap.NewNop(),
	})
	if err != nil {
		member.Close()
		return nil, fmt.Errorf("connect to etcd: %w", err)
	}
	return &etcd{member: member, client: client, url: address}, nil
}

// revision returns etcd's current revision: the resourceVersion of the latest write.
func (e *etcd) revision(ctx context.Context) (int64, error) {
	answer, err := e.client.Get(ctx, "absent", clientv3.WithCountOnly())
	if err != nil {
		return 0, fmt.Errorf("read etcd's revision: %w", err)
	}
	return answer.Header.Revision, nil
}

// compact discards every version before revision. Compacting again is a no-op.
func (e *etcd) compact(ctx context.Context, revision int64) error {
	if _, err := e.client.Compact(ctx, revision, clientv3.WithCompactPhysical()); err != nil && !errors.Is(err, rpctypes.ErrCompacted) {
		return fmt.Errorf("compact etcd at %d: %w", revision, err)
	}
	return nil
}

func (e *etcd) stop() {
	e.client.Close()
	e.member.Close()
}
