/** Starting, inspecting, reloading and stopping the gateway. */
import type { Story } from './story.ts';

const SECRET = 'the-secret-of-the-home-behind-a-gateway';
const CONFIG = `platforms:
  webhook:
    enabled: true
    port: 0
    secret: env:WEBHOOK_SECRET
    routes:
      pulls: { prompt: "{title}" }
`;
const NOT_RUNNING = 'error: no gateway is running for …/home\n  start one: hookwright gateway start\n';

export const gateway: Story = {
  about: 'a gateway runs in the background, and in the foreground',
  files: { 'home/config.yaml': CONFIG, 'home/.env': `WEBHOOK_SECRET=${SECRET}\n` },
  secrets: [SECRET],
  steps: [
    { run: 'gateway status', code: 1, err: NOT_RUNNING },
    { run: 'gateway status --json', code: 1, json: true, out: '{\n  "state": "stopped"\n}\n' },
    { run: 'gateway logs', code: 1, err: /^error: there is no log yet: .*\n {2}only a background gateway writes it/ },
    {
      run: 'gateway install-service --dry-run',
      out: /^# Written by [\s\S]*\nExecStart=.* gateway run --config \S+\/home\/config\.yaml\n/,
      err: /^write .*\/systemd\/user\/hookwright-[\w-]+\.service\nrun {3}systemctl --user daemon-reload /,
    },
    {
      run: 'gateway start',
      out: 'http://127.0.0.1:…\n',
      err: /no agent is configured: .*\nstarted \(pid \d+\), log: \S+\/home\/logs\/gateway\.log\n$/,
      modes: { 'home/logs': 0o700, 'home/logs/gateway.log': 0o600, 'home/run': 0o700, 'home/state.db': 0o600 },
    },
    {
      run: 'gateway start',
      code: 1,
      err: /^error: a gateway already serves .*\n {2}the running gateway serves .*config\.yaml\n {2}stop it first: /,
    },
    { run: 'gateway status', out: /^hookwright \S+ is serving on http:.*\n {2}table +1 route, generation 1, / },
    { run: 'gateway status --json', json: true, out: /"state": "serving"/ },
    { run: 'gateway reload', err: /^no changes since the last load at \S+Z, / },
    {
      run: 'gateway reload',
      code: 1,
      write: { 'home/config.yaml': CONFIG.replace('prompt', 'promt') },
      err: /unknown-key[\s\S]*error: the configuration has errors; the old one stays in service\n$/,
    },
    { run: 'gateway reload --json', json: true, write: { 'home/config.yaml': CONFIG }, out: /"ok": true/ },
    { run: 'gateway logs -n 1000', out: /"msg":"listening"/ },
    {
      run: 'gateway logs -f',
      out: /"msg":"listening"/,
      when: [/"listening"/, ({ kill }) => kill('SIGINT')],
    },
    { run: 'gateway restart --port 0', out: /^http:/, err: /^stopped\n[\s\S]*started \(pid / },
    { run: 'gateway metrics', out: /^# HELP hookwright_/ },
    { run: 'gateway stop', err: 'stopped\n' },
    { run: 'gateway stop', code: 1, err: NOT_RUNNING },
    { run: 'gateway metrics', code: 1, err: NOT_RUNNING },
    {
      run: 'gateway run --port 0',
      err: /"msg":"listening"[\s\S]*"msg":"stopped"/,
      when: [/"listening"/, ({ kill }) => kill('SIGTERM')],
    },
    { run: 'gateway run --port nine', code: 2, err: /^error: --port / },
    {
      run: 'gateway run',
      terminal: [['listening', '\u0003']],
      out: /INFO.*listening[\s\S]*stopped/,
    },
  ],
};
