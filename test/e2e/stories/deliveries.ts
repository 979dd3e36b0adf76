/** Deliveries of events, messages sent by hand, and mirrored sessions. */
import type { Story } from './story.ts';

const SECRET = 'the-secret-of-a-home-with-deliveries';
const TOKEN = '7:the-token-of-a-home-with-deliveries';

export const deliveries: Story = {
  about: 'deliveries are listed, shown and replayed; messages and sessions are created by hand',
  files: {
    'home/config.yaml': `gateway: { alerts: { deliver: local } }
platforms:
  webhook:
    enabled: true
    port: 0
    secret: env:WEBHOOK_SECRET
    routes:
      news: { prompt: "News: {title}" }
  telegram:
    enabled: true
    token: env:TELEGRAM_TOKEN
    home_channel: "-100"
`,
    'home/.env': `WEBHOOK_SECRET=${SECRET}\nTELEGRAM_TOKEN=${TOKEN}\n`,
  },
  secrets: [SECRET, TOKEN],
  steps: [
    { run: 'deliveries list', err: 'no matching deliveries\n' },
    { run: 'deliveries replay 0', code: 1, err: 'error: nothing has been stored in this home yet\n' },
    { run: 'alerts test', code: 1, err: /^error: no gateway is running for .*\n.*start one: hookwright gateway start/ },
    { run: 'gateway start', out: /./, err: /^started /m },
    { run: 'alerts test', out: 'local: sent\n' },
    { run: 'alerts test --json', json: true, out: /"results": \[\s*\{\s*"target": "local",\s*"ok": true/ },
    { run: `webhook test news --payload '{"title": "One"}'`, out: /^202 /, err: /^POST / },
    {
      run: 'deliveries list --state done --route news --json',
      json: true,
      out: /"state": "done"/,
      keep: { id: /"id": "([^"]+)"/ },
      eventually: true,
    },
    { run: 'deliveries list --route news', out: 'ID  …\n… news … done …\n' },
    { run: 'deliveries list --all', out: /^\S+ +\(gateway\) +alert_test +done /m },
    { run: 'usage --by route', err: /./ },
    { run: 'usage --by nothing', code: 2, err: /^error: --by must be one of route, agent, job, day/ },
    { run: 'gateway loops list', err: /paused/ },
    { run: 'gateway loops release x', code: 1, err: /^error: .*"x"\n/ },
    { run: 'deliveries list --state lost', code: 2, err: /^error: there is no state "lost"\n/ },
    { run: 'deliveries show $id', out: /^id +\S+\nstate +done\n[\s\S]*accepted\n[\s\S]*delivered \(log\)\n/ },
    { run: 'deliveries show $id --full', out: /prompt:\nNews: One\n\nanswer:\nNews: One\n$/ },
    { run: 'deliveries show nothing', code: 1, err: /^error: there is no delivery "nothing"\n/ },
    { run: 'deliveries replay $id --dry-run', out: /^\S+\n$/, err: '1 delivery would be replayed\n' },
    { run: 'deliveries replay', code: 2, err: /^error: name deliveries by id, or choose a state with --state\n/ },
    { run: 'deliveries replay $id', out: /^\S+ -> \S+\n$/, err: '1 delivery replayed\n', keep: { again: /-> (\S+)/ } },
    { run: 'deliveries show $again', out: /^state +done\n[\s\S]*^replay of +\S+\n/m, eventually: true },
    {
      run: 'requests list --json --route news --outcome accepted',
      json: true,
      out: /"outcome": "accepted"/,
      keep: { request: /"id": "([^"]+)"/ },
    },
    { run: 'requests list', out: 'ID  …\n… news … accepted\n' },
    { run: 'requests list --since tomorrow', code: 2, err: /^error: invalid time "tomorrow"\n/ },
    { run: 'requests show $request', out: /^answer +202 accepted in [\s\S]*signature\S*: \[removed: signature\]\n/m },
    { run: 'requests show $request --body', out: '{"title": "One"}' },
    { run: 'requests show nothing', code: 1, err: /^error: .*"nothing"/ },
    { run: 'requests replay $request', out: /^202 \{"status":"accepted"/, err: /./ },
    { run: 'deliver log --text -', stdin: 'by hand', out: 'delivered to log\n', err: /"text":"by hand"/ },
    {
      run: 'deliver telegram --text hello --dry-run',
      out: 'POST https://api.telegram.org/bot***/sendMessage\n…\n\n{"chat_id":-100,"text":"hello",…}\n',
    },
    { run: 'deliver nowhere --text x', code: 1, err: /^error: .*nowhere/ },
    { run: 'deliver log', code: 2, err: /^error: .*message/ },
    { run: 'session list', err: /./ },
    { run: 'session show telegram -100', code: 1, err: /^error: chat -100 of telegram has no session\n/ },
    {
      run: 'session open telegram -100',
      out: '…/home/sessions/telegram/-100.jsonl\n',
      modes: { 'home/sessions': 0o700, 'home/sessions/telegram/-100.jsonl': 0o600 },
    },
    { run: 'session list', out: 'KIND …\nchat …telegram  …-100  …\n' },
    { run: 'session show telegram -100 --json', json: true, out: '[]\n' },
    { run: 'session reset webhook:news:1', code: 1, err: /^error: session "webhook:news:1" has no messages/ },
    { run: 'approvals list', err: /approv/ },
    ...['show', 'approve', 'reject'].map((how) => ({
      ...{ run: `approvals ${how} nothing`, code: 1, err: /^error: .*"nothing"\n/ },
    })),
    { run: 'gateway stop', err: 'stopped\n' },
  ],
};
