/** The first steps of a new user. */
import type { Story } from './story.ts';

const enter = '\r';

export const setup: Story = {
  about: 'a home is set up, in a script and step by step',
  steps: [
    { run: 'gateway setup', code: 2, err: /^error: there is no terminal for questions\n/ },
    {
      run: 'gateway setup --yes --set port=0 --set route=hello --set agent.command=[cat]',
      out: 'home/config.yaml\nhome/.env\n',
      err: /\+ WEBHOOK_SECRET=\(hidden\)\n\nhello: a route\n {2}URL: .*\/webhooks\/hello\n[\s\S]*\nNext: hookwright gateway run\n$/,
      modes: { home: 0o700, 'home/config.yaml': 0o600, 'home/.env': 0o600 },
    },
    { run: 'gateway setup --yes', err: 'nothing to change\n' },
    { run: 'agent list', out: /^AGENT +PROGRAM[\s\S]*^claude-code +Claude Code /m },
    { run: 'agent show codex', out: /^# agent:\n# {3}use: codex\ntitle: Codex\n[\s\S]*\noutput:\n/ },
    { run: 'agent show claud --json', json: true, out: /"name": "claude-code"/ },
    { run: 'gateway setup --yes --set gateway.drain_seconds=soon', code: 1, err: /nothing was written\n$/ },
    {
      run: 'gateway setup',
      code: 1,
      terminal: [['Receive webhooks?', '\u0003']],
      out: /cancelled; nothing was written/,
    },
    {
      run: 'gateway setup',
      terminal: [
        ['Receive webhooks?', enter],
        ['Who can reach the server?', enter],
        ['Port?', `${'\u007f'.repeat(5)}0${enter}`],
        ['Keep the current one', enter],
        ['Create a first route?', 'y'],
        ['Name of the route', `second${enter}`],
        ['Accepted events', `push${enter}`],
        ['Prompt, with', enter],
        ['Write this?', enter],
      ],
      out: /\+ +second:[\s\S]*home\/config\.yaml/,
      modes: { 'home/config.yaml': 0o600, 'home/.env': 0o600 },
    },
    { run: 'gateway start', out: /./, err: /^started /m },
    { run: 'webhook test second', out: /^202 .*"event":"push"/, err: /^POST / },
    { run: 'gateway stop', err: 'stopped\n' },
  ],
};
