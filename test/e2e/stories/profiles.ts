/** Isolated identities on one gateway. */
import type { Story } from './story.ts';

const SECRETS = ['the-secret-of-the-default-profile', 'the-secret-of-the-route-of-work'] as const;

export const profiles: Story = {
  about: 'a profile is created, bound to a route and shown',
  files: {
    'home/config.yaml': `platforms:
  webhook:
    enabled: true
    port: 0
    secret: env:WEBHOOK_SECRET
    routes:
      alerts: { profile: work, secret: env:ALERTS_SECRET, prompt: "{title}" }
gateway: { multiplex_profiles: true }
`,
    'home/.env': `WEBHOOK_SECRET=${SECRETS[0]}\nALERTS_SECRET=${SECRETS[1]}\n`,
  },
  secrets: SECRETS,
  steps: [
    { run: 'lint', code: 1, out: /unknown-profile/, err: 'read home/config.yaml\n' },
    {
      run: 'profile create work',
      out: '…/home/profiles/work\n',
      err: /^enable profiles: /,
      modes: {
        'home/profiles/work': 0o700,
        'home/profiles/work/.env': 0o600,
        'home/profiles/work/config.yaml': 0o600,
        'home/profiles/work/sessions': 0o700,
      },
    },
    { run: 'profile create work', code: 1, err: /^error: there is already a profile "work": / },
    {
      run: 'lint',
      out: /^profile work in profiles\/work\/\n[\s\S]*\/p\/work\/webhooks\/alerts/m,
      err: 'no problems\n',
    },
    { run: 'gateway start', out: /./, err: /^started /m, keep: { url: /^(\S+)/ } },
    {
      run: 'webhook subscribe notes --route-profile work --prompt x --json',
      json: true,
      out: /./,
      secret: { made: /"secret": "([^"]+)"/ },
    },
    { run: 'webhook test notes', out: /^202 /, err: /^POST .*\/p\/work\/webhooks\/notes / },
    { run: 'webhook test notes --url $url/webhooks/notes', code: 1, out: /^404 /, err: /^POST / },
    { run: 'profile list', out: 'NAME …\ndefault …served\nwork  …alerts,notes …served\n' },
    { run: 'profile list --json', json: true, out: /"name": "work"/ },
    { run: 'profile show work', out: /^profile work in profiles\/work\/\n[\s\S]*route alerts: env:ALERTS_SECRET/ },
    { run: 'profile show wrok', code: 1, err: /^error: there is no profile "wrok"\n {2}did you mean work\?\n/ },
    { run: 'gateway stop', err: 'stopped\n' },
  ],
};
