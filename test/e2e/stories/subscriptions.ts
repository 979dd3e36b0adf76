/** Subscriptions created while a gateway runs. */
import type { Story } from './story.ts';

const SECRET = 'the-global-secret-beside-subscriptions';

export const subscriptions: Story = {
  about: 'a subscription is created, tested, changed, disabled, enabled and removed',
  files: {
    'home/config.yaml': `platforms:
  webhook:
    enabled: true
    port: 0
    secret: env:WEBHOOK_SECRET
    routes:
      fixed: { prompt: "{title}" }
`,
    'home/.env': `WEBHOOK_SECRET=${SECRET}\n`,
  },
  secrets: [SECRET],
  steps: [
    { run: 'webhook list', err: 'no subscriptions; to create one: hookwright webhook subscribe <name>\n' },
    { run: 'gateway start', out: /./, err: /^started /m, keep: { url: /^(\S+)/ } },
    {
      run: "webhook subscribe reviews --events pull_request --prompt 'Review {title}'",
      out: /^Created subscription reviews\n {2}URL +http.*\/webhooks\/reviews\n {2}Secret +[0-9a-f]{64}\n {2}Mode +agent run, answer to log\n {2}Try .*curl/,
      secret: { made: /Secret +(\S+)\n/ },
      modes: { 'home/webhook_subscriptions.json': 0o600 },
    },
    {
      run: 'webhook subscribe payments --source stripe --secret env:WEBHOOK_SECRET --prompt x --json',
      json: true,
      out: /"created": true,[\s\S]*"secret": null/,
    },
    { run: 'webhook subscribe fixed --prompt x', code: 1, err: /^error: "fixed" is a static route\n {2}change it/ },
    { run: 'webhook subscribe', code: 2, err: /^error: not enough positional arguments\n/ },
    { run: 'webhook subscribe jobs --cron-job none', code: 1, err: /is invalid; nothing was written\n.*unknown-job/ },
    {
      run: 'webhook list',
      out: 'NAME …\nreviews …serving… http…/webhooks/reviews\npayments …serving… stripe …\n',
    },
    { run: 'webhook list --all --json', json: true, out: /"name": "fixed"[\s\S]*"name": "reviews"/ },
    { run: 'webhook show reviews', out: /^reviews: serving\nhttp[\s\S]*"secret": "\(hidden; to show it: --reveal\)"/ },
    { run: 'webhook show reviews --reveal', out: /"prompt": "Review \{title\}"/, reveals: ['made'] },
    { run: 'webhook show nothing', code: 1, err: /^error: there is no subscription "nothing"\n/ },
    {
      run: `webhook test reviews --payload '{"title": "One"}'`,
      out: '202 {"status":"accepted","route":"reviews",…}\n',
      err: 'POST …/webhooks/reviews (github, pull_request)\n',
    },
    { run: 'webhook test fixed --json', json: true, out: /"status": 202/, err: /^POST / },
    {
      run: 'webhook rotate-secret reviews --overlap 1h',
      out: /^[0-9a-f]{64}\n$/,
      err: /^the old secret is accepted until /,
      secret: { next: /^(\S+)/ },
      modes: { 'home/webhook_subscriptions.json': 0o600 },
    },
    { run: 'webhook test reviews --key $made', out: /^202 /, err: /^POST / },
    { run: 'webhook disable reviews', err: 'disabled reviews\n' },
    { run: 'webhook test reviews', code: 1, out: /^403 .*"route_disabled"/, err: /^POST / },
    { run: 'webhook enable reviews', err: 'enabled reviews\n' },
    { run: 'webhook test reviews', out: /^202 /, err: /^POST / },
    { run: 'route pause fixed --for 1h', out: /^route fixed / },
    { run: 'webhook list --all', out: /^fixed .*paused/m },
    { run: 'route resume fixed', out: /^route fixed / },
    { run: 'webhook remove reviews', err: 'removed reviews\n' },
    { run: 'webhook remove reviews', code: 1, err: /^error: there is no subscription "reviews"\n/ },
    { run: 'webhook remove fixed', code: 1, err: /^error: "fixed" is a static route\n/ },
    { run: 'webhook test fixed --url $url/webhooks/reviews', code: 1, out: /^404 .*"unknown_route"/, err: /^POST / },
    { run: 'gateway stop', err: 'stopped\n' },
    {
      run: 'webhook list --all',
      terminal: [],
      out: 'NAME …\nfixed …serving …\npayments …serving …\n',
      modes: { 'home/webhook_subscriptions.json': 0o600 },
    },
  ],
};
