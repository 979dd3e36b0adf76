/** Writing a configuration: lint, compile, schemas, completion, and serving compiled tables. */
import type { Story } from './story.ts';

const SECRET = 'the-literal-secret-of-the-configuration';
const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    routes:
      pulls:
        events: [push]
        toolsets: [web_search, no_such_toolset]
        prompt: "{head_commit.message}"
        accept_untrusted: Only the team pushes there.
    port: 0
`;
const TESTS = `tests:
  - name: a push is taken
    route: pulls
    event: push
    payload: { head_commit: { message: hello } }
    expect: { outcome: accepted, prompt: { equals: hello } }
`;
const HOOKS = '[{ "id": "a", "execute-command": "/bin/true" }]';
const HERMES = `webhooks: { routes: { r: { secret: ${SECRET}, source_platform: x } } }`;
const WARNING = 'hookwright.yaml:8:…: warning unknown-toolset: …\n…\n\n1 warning\n';

export const configuration: Story = {
  about: 'a configuration is checked, compiled and served',
  files: {
    'hookwright.yaml': CONFIG,
    'bad.yaml': CONFIG.replace('events:', 'event:'),
    'hooks.json': HOOKS,
    'hermes.yaml': HERMES,
  },
  secrets: [SECRET],
  steps: [
    { run: '--version', out: /^\d+\.\d+\.\d+\n$/ },
    { run: '--help', out: /^Signed webhooks in[\s\S]*Usage: hookwright <command>/ },
    { run: '', code: 2, err: /Usage: hookwright <command>/ },
    { run: 'copmile', code: 2, err: 'error: unknown command "copmile"\n  did you mean: hookwright compile\n' },
    {
      run: 'init --template quickstart made',
      out: /^made\/hookwright\.yaml\n/,
      err: /webhooks\/pull-requests\n {2}Secret: env:WEBHOOK_SECRET, in \.env\n/,
      modes: { 'made/.env': 0o600 },
    },
    {
      run: 'store migrate',
      code: 1,
      err: /^error: gateway\.store .*\n.*--database env:DATABASE_URL/,
    },
    {
      run: 'store move --from sqlite --to postgres --database env:NO_SUCH_URL',
      code: 1,
      err: /^error: gateway\.store\.postgres: .*NO_SUCH_URL/,
    },
    {
      run: 'convert adnanh hooks.json',
      out: /^# Converted from hooks\.json/,
      err: /1 changed, 0 lost\n/,
    },
    {
      run: 'convert hermes hermes.yaml --dry-run --allow-loss',
      out: /^# Converted from hermes\.yaml/,
      err: /, 1 lost\n/,
    },
    {
      run: 'convert hermes hermes.yaml --out converted',
      code: 1,
      out: 'converted/hookwright.yaml\nconverted/.env\n',
      err: /hermes\.yaml:1:\d+: lost: source_platform, route r\n/,
      modes: { 'converted/.env': 0o600 },
    },
    { run: 'lint', out: WARNING, err: 'read hookwright.yaml\n' },
    { run: 'lint bad.yaml', code: 1, out: /^bad\.yaml:7:9/, err: 'read bad.yaml\n' },
    { run: 'lint --strict', code: 1, out: WARNING, err: 'read hookwright.yaml\n' },
    { run: 'lint --format json', json: true, out: /"rule": "unknown-toolset"/ },
    { run: 'lint --format github', out: '::warning file=hookwright.yaml,line=8,…::…\n' },
    { run: 'lint --format sarif', json: true, out: /"ruleId": "unknown-toolset"/ },
    {
      run: 'lint --config bad.yaml',
      code: 1,
      out: /^bad\.yaml:7:9: error unknown-key: .*did you mean `events`\?\n/,
      err: 'read bad.yaml\n',
    },
    {
      run: 'lint --format xml',
      code: 2,
      err: /^error: --format must be one of pretty, json, github, sarif, not "xml"\n/,
    },
    {
      run: 'compile',
      out: 'build/routes.json\nbuild/blueprints.json\n',
      err: `${WARNING}read hookwright.yaml\n`,
      modes: { 'build/routes.json': 0o600, 'build/blueprints.json': 0o644 },
    },
    { run: 'compile --config bad.yaml --out elsewhere', code: 1, err: /unknown-key/ },
    {
      run: 'serve --port 0',
      err: /"msg":"listening"[\s\S]*"msg":"stopped"/,
      when: [/"listening"/, ({ kill }) => kill('SIGTERM')],
    },
    {
      run: "explain pulls --payload '{}' --event issues",
      code: 1,
      out: /ignored/,
      write: { 'pulls.test.yaml': TESTS },
    },
    { run: "explain pulls --payload '{}' --event push --json", json: true, out: /"outcome": "accepted"/ },
    { run: 'test', out: /1 passed/ },
    { run: 'diff hookwright.yaml hookwright.yaml', err: /same/ },
    { run: 'diff hookwright.yaml bad.yaml', code: 2, err: /unknown-key/ },
    { run: 'serve --table nowhere', code: 1, err: /^error: .*nowhere.*\(ENOENT\)/ },
    { run: 'doctor --json', json: true, out: /"check": "compiles"/ },
    {
      run: 'doctor',
      code: 1,
      out: /^STATUS +WHAT +CHECK +FOUND\n[\s\S]*failed +.*WEBHOOK_SECRET/,
      write: { 'hookwright.yaml': CONFIG.replace(SECRET, 'env:WEBHOOK_SECRET') },
    },
    { run: 'schema', out: '…\nconfig\n…\nroute\n…\n' },
    { run: 'schema config', json: true, out: /"\$id": "config\.schema\.json"/ },
    {
      run: 'schema confg',
      code: 1,
      err: 'error: there is no schema "confg"\n  did you mean: hookwright schema config\n',
    },
    { run: 'rule', out: '…\nunknown-key\n…\n' },
    { run: 'rule unknown-key', out: /^unknown-key\n\n\*\*error\*\* — [\s\S]*\nBetter:\n[\s\S]*```\n$/ },
    { run: 'rule unknown-key --json', json: true, out: /"name": "unknown-key"/ },
    {
      run: 'rule unknwn-key',
      code: 1,
      err: /^error: there is no rule "unknwn-key"\n {2}did you mean: .* unknown-key\n/,
    },
    { run: 'docs', out: /^Tutorial\n {2}tutorial +from an empty [\s\S]*\nReference\n {2}config +every key\n/ },
    { run: 'docs --json', json: true, out: /"name": "rules"/ },
    { run: 'docs http', out: /^# The HTTP contract\n/ },
    { run: 'docs tutorail', code: 1, err: /^error: there is no page "tutorail"\n {2}did you mean: .* tutorial\n/ },
    { run: 'completion bash', out: /^# bash completion of hookwright\n/ },
    { run: 'completion zsh', out: /^#compdef hookwright\n/ },
    { run: 'completion fish', out: /^# fish completion of hookwright\n/ },
    { run: 'completion tcsh', code: 2, err: /^error: completion must be one of bash, zsh, fish, not "tcsh"\n/ },
  ],
};
