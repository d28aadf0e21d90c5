// An informer of @kubernetes/client-node on the ConfigMaps of one namespace.
//
//   node informer.js MODULE URL NAMESPACE RESTART
//
// Each line of stdin is a command: start, stop, or state, which prints what the informer has as a line of JSON. RESTART says after how many
// milliseconds an error restarts the informer, as the example in client-node's documentation does; "never" leaves it ended.
import { createInterface } from 'node:readline';

const [module, server, namespace, restart] = process.argv.slice(2);
const { CoreV1Api, KubeConfig, makeInformer } = await import(module);

const config = new KubeConfig();
config.loadFromOptions({
  clusters: [{ name: 'c', server, skipTLSVerify: true }], // without skipTLSVerify it refuses plain http
  users: [{ name: 'u' }],
  contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
  currentContext: 'x',
});
const api = config.makeApiClient(CoreV1Api);
const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () => api.listNamespacedConfigMap({ namespace }));

const seen = { add: 0, update: 0, delete: 0, connect: 0 };
const errors = [];
for (const event of Object.keys(seen)) {
  informer.on(event, () => seen[event]++);
}
informer.on('error', (err) => {
  errors.push(String(err?.stack ? `${err.name}: ${err.message}` : err));
  if (restart !== 'never') {
    setTimeout(() => informer.start(), Number(restart));
  }
});

const object = ({ metadata, data }) => ({
  version: metadata.resourceVersion,
  value: data?.value ?? '',
  created: metadata.creationTimestamp?.constructor.name,
});
const commands = {
  start: () => void informer.start(),
  stop: () => void informer.stop(),
  state: () => {
    const objects = Object.fromEntries(informer.list(namespace).map((o) => [o.metadata.name, object(o)]));
    console.log(JSON.stringify({ objects, seen, errors }));
  },
};
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => commands[line]());
lines.on('close', () => process.exit(0));
