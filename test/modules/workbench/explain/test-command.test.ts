/** Tests `hookwright test`: failures, their positions, and the report formats. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { CliResult } from '../../../helpers/cli.ts';
import { runInProcess, startInProcess } from '../../../helpers/cli.ts';
import { until } from '../../../helpers/gateway.ts';
import { goldenTexts } from '../../../helpers/golden-texts.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const printed = goldenTexts('modules/workbench/explain/test-command.txt');

const CONFIG = `
platforms:
  webhook:
    enabled: true
    secret: env:NOT_THERE
    routes:
      review:
        events: [pull_request, issue*]
        filters:
          - field: action
            equals: opened
        prompt: |
          Review #{number}
          of {repo}
        deliver: telegram
        deliver_extra: { chat_id: "{chat}" }
      shaped:
        script: shape.sh
        prompt: "{greeting}"
  telegram: { enabled: true, token: env:NOT_THERE_EITHER }
`;

function open(t: TestContext, tests: string, name = 'hookwright.test.yaml') {
  const dir = tempDir(t);
  const file = join(dir, name);
  writeFileSync(join(dir, 'hookwright.yaml'), CONFIG);
  writeFileSync(file, tests);
  const options = { home: join(dir, 'home'), cwd: dir };
  const run = (...argv: string[]): Promise<CliResult> => runInProcess(['test', ...argv], options);
  return { dir, file, options, run };
}

const PASSES = `
tests:
  - name: a pull request that is opened
    route: review
    event: pull_request
    payload: { action: opened, number: 7, repo: o/r, chat: -5 }
    expect:
      outcome: accepted
      event: pull_request
      prompt:
        equals: "Review #7\\nof o/r"
        contains: ["#7", o/r]
        not_contains: "{number}"
        matches: ^Review #\\d+
      deliver: telegram
      address: { chat_id: -5 }
      toolsets: [clarify, web_search, web_extract, vision_analyze]
      agent: preview
      session: webhook:review:test
  - name: with its headers
    route: review
    headers: { X-GitHub-Event: issues, X-GitHub-Delivery: d-1 }
    payload: { action: closed }
    expect: { outcome: ignored, reason: filter, event: issues }
`;

test('compares the home channel if a test names the chat', async (t) => {
  const home = tempDir(t);
  writeFileSync(
    join(home, 'hookwright.yaml'),
    `platforms:
  webhook: { enabled: true, secret: INSECURE_NO_AUTH, routes: { open: { prompt: x, deliver: telegram } } }
  telegram: { enabled: true, token: env:TOKEN, home_channel: "-77" }
`,
  );
  const cases = [
    ['{}', 0],
    ['{ chat_id: "-77" }', 0],
    ['{ chat_id: "-78" }', 1],
  ] as const;
  for (const [address, code] of cases) {
    const text = `tests: [{ name: a, route: open, payload: {}, expect: { outcome: accepted, address: ${address} } }]\n`;
    writeFileSync(join(home, 'hookwright.test.yaml'), text);
    const result = await runInProcess(['test'], { home });
    assert.equal(result.code, code, result.stdout + result.stderr);
  }
});

test('tests that pass need neither secrets nor a home', async (t) => {
  const { run } = open(t, PASSES);
  const { code, stdout, stderr } = await run();
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /^2 /);
});

const FAILS = `tests:
  - name: closed
    route: review
    event: pull_request
    payload: { action: closed }
    expect:
      outcome: accepted
      prompt: x
  - name: another prompt
    route: review
    event: pull_request
    payload: { action: opened, number: 8, repo: o/r }
    expect:
      outcome: accepted
      prompt: |
        Review #7
        of o/r
      address: { chat_id: "5" }
`;

test('prints a failure at the line of its expectation, with a diff and the filter that decided', async (t) => {
  const { run } = open(t, FAILS);
  const { code, stdout } = await run();
  assert.equal(code, 1);
  printed('failures', stdout);
});

test('prints the same results as JSON, JUnit XML and annotations', async (t) => {
  const { run } = open(t, FAILS.replace('name: closed', 'name: closed <&> "it"'));
  const json = JSON.parse((await run('--format', 'json')).stdout);
  assert.deepEqual([json.passed, json.failed], [0, 2]);
  assert.deepEqual(json.tests[1].failures[0], {
    at: 'prompt',
    line: 15,
    column: 7,
    message: json.tests[1].failures[0].message,
    ...{ expected: 'Review #7\nof o/r\n', actual: 'Review #8\nof o/r\n' },
  });
  const junit = (await run('--format', 'junit')).stdout;
  assert.match(junit, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites tests="2" failures="2" errors="0">/);
  assert.match(junit, /<testcase name="closed &lt;&amp;&gt; &quot;it&quot;" classname="review"/);
  const github = (await run('--format', 'github')).stdout;
  assert.match(github, /^::error file=hookwright\.test\.yaml,line=7,.*closed <&> "it": outcome/m);
});

test('reports an invalid file with its position, and runs the others', async (t) => {
  const { dir, run } = open(t, PASSES);
  writeFileSync(join(dir, 'bad.test.yaml'), 'tests:\n  - name: x\n    rout: review\n    payload: {}\n    expect: {}\n');
  const { code, stdout, stderr } = await run();
  assert.equal(code, 1);
  assert.match(stdout, /\b2\b/);
  assert.match(stderr, /^bad\.test\.yaml:3:5: error unknown-key: .*rout/m);
  writeFileSync(
    join(dir, 'bad.test.yaml'),
    'tests:\n  - name: x\n    route: review\n    expect: { outcome: accepted }\n',
  );
  assert.match((await run()).stderr, /^bad\.test\.yaml:2:5: error test-request: /m);
});

test('reports an invalid file in every machine format, without offering a fix', async (t) => {
  const { dir, run } = open(t, PASSES);
  writeFileSync(join(dir, 'bad.test.yaml'), 'tests:\n  - { name: x, rout: r, payload: {}, expect: {} }\n');
  const json = JSON.parse((await run('--format', 'json')).stdout);
  assert.deepEqual([json.passed, json.errors[0].file, json.errors[0].line], [2, 'bad.test.yaml', 2]);
  const junit = (await run('--format', 'junit')).stdout;
  assert.match(junit, /<testsuites tests="3" failures="0" errors="1">/);
  assert.match(junit, /<error message="[^"]*rout[^"]*">bad\.test\.yaml:2:\d+<\/error>/);
  assert.match((await run('--format', 'github')).stdout, /^::error file=bad\.test\.yaml,line=2/m);
  assert.doesNotMatch((await run()).stderr, /--fix/);
});

test('reports an unknown outcome and an invalid regular expression at their lines', async (t) => {
  const expect = 'expect: { outcome: acepted, prompt: { matches: "(" } }';
  const { run } = open(t, `tests:\n  - name: x\n    route: review\n    payload: {}\n    ${expect}\n`);
  const { code, stderr } = await run();
  assert.equal(code, 1);
  assert.match(stderr, /:5:24: error test-expectation: .*"acepted".*`accepted`/);
  assert.match(stderr, /:5:52: error test-expectation: /);
});

test('a missing route or file fails at its line', async (t) => {
  const { run } = open(
    t,
    'tests:\n  - { name: a, route: revieu, payload: {}, expect: { outcome: accepted } }\n  - name: b\n    route: review\n    payload_file: gone.json\n    expect: { outcome: accepted }\n  - { name: c, route: review, payload: {}, expect: {} }\n',
  );
  const { code, stdout } = await run();
  assert.equal(code, 1);
  assert.match(stdout, /:2:16: route: .*"revieu".*\breview\b/);
  assert.match(stdout, /:5:5: payload_file: .*ENOENT/);
  assert.match(stdout, /:7:44: expect: /);
});

test('rejects missing and invalid test files', async (t) => {
  const { run } = open(t, 'tests: []\n');
  assert.equal((await run()).code, 1);
  assert.equal((await run('elsewhere.test.yaml')).code, 1);
  assert.equal((await run('--format', 'tap')).code, 2);
  assert.equal((await run('--fail-under', 'all')).code, 2);
});

const SCRIPTED = `
tests:
  - name: the script itself
    route: shaped
    payload: { who: world }
    expect: { outcome: accepted, prompt: hello world }
  - name: what it might print
    route: shaped
    payload: {}
    script: { stdout: '{"greeting": "good evening"}' }
    expect: { outcome: accepted, prompt: good evening }
  - name: it fails
    route: shaped
    payload: {}
    script: { exit: 3 }
    expect: { outcome: ignored, reason: script }
`;

test('runs a script, unless a test replaces it', async (t) => {
  const { options, run } = open(t, SCRIPTED);
  const scripts = join(options.home, 'scripts');
  mkdirSync(scripts, { recursive: true });
  writeFileSync(join(scripts, 'shape.sh'), 'read body; echo \'{"greeting": "hello world"}\'\n');
  chmodSync(join(scripts, 'shape.sh'), 0o755);
  const { code, stdout, stderr } = await run();
  assert.equal(code, 0, stdout + stderr);
});

test('--coverage lists what no test reaches, and --fail-under requires a percentage', async (t) => {
  const { run } = open(t, PASSES);
  const { stdout, code } = await run('--coverage');
  assert.equal(code, 0);
  printed('what no test reaches', stdout);
  const short = await run('--fail-under', '90');
  assert.equal(short.code, 1);
  assert.match(short.stderr, /\b50 %.*\b90 %/);
  assert.equal((await run('--fail-under', '50')).code, 0);
});

const SNAPSHOT = `tests:
  # What a reviewer reads.
  - name: opened
    route: review
    event: pull_request
    payload: { action: opened, number: 9, repo: o/r, chat: 1 }
    expect:
      snapshot: true # written by --update
  - name: kept
    route: review
    event: pull_request
    payload: { action: closed }
    expect: {outcome:   accepted}  # written by hand
`;

test('--update writes only the snapshots', async (t) => {
  const { file, run } = open(t, SNAPSHOT);
  const before = await run();
  assert.match(before.stdout, /hookwright test --update/);
  const updated = await run('--update');
  assert.equal(updated.code, 1, 'the other test still fails');
  const text = readFileSync(file, 'utf8');
  assert.match(text, /# What a reviewer reads\.\n/);
  assert.match(text, /snapshot: true # written by --update\n/);
  assert.match(text, /outcome: accepted\n/);
  assert(text.endsWith(SNAPSHOT.slice(SNAPSHOT.indexOf('  - name: kept'))), text);
  assert.match(text, /prompt: \|\n +Review #9\n +of o\/r\n/);
  assert.match(text, /chat_id: "1"\n/);
  writeFileSync(file, text.replace('number: 9', 'number: 10'));
  assert.match((await run()).stdout, /- Review #9\n +\+ Review #10/);
});

test('--watch runs again when a test changes, until it is stopped', async (t) => {
  const { file, options } = open(t, PASSES);
  const running = startInProcess(['test', '--watch'], options);
  t.after(() => running.signal('SIGINT'));
  await until(async () => running.stdout().startsWith('2 '));
  await until(async () => {
    writeFileSync(file, PASSES.replace('outcome: accepted', 'outcome: delivered'));
    return /^✗ /m.test(running.stdout());
  });
  running.signal('SIGINT');
  assert.equal((await running.done).code, 0);
});

test('a thousand tests take a few seconds', async (t) => {
  const one = (at: number): string =>
    `  - { name: n${at}, route: review, event: pull_request, payload: { action: opened, number: ${at} }, expect: { outcome: accepted, prompt: { contains: "#${at}" } } }\n`;
  const { run } = open(t, `tests:\n${Array.from({ length: 1000 }, (_, at) => one(at)).join('')}`);
  const started = process.cpuUsage();
  const { code, stdout } = await run();
  const { user, system } = process.cpuUsage(started);
  const seconds = (user + system) / 1e6;
  assert.equal(code, 0, stdout.slice(0, 500));
  t.diagnostic(`${seconds.toFixed(2)} s of processor time`);
  assert(seconds < 6, `${seconds} s of processor time`);
});

test('a test without `expect` does not hide problems of the others', async (t) => {
  const tests = `tests:
  - { name: no expectation, route: review, payload: {} }
  - { name: no outcome, route: review, payload: {}, expect: { outcome: acepted } }
  - { name: no request, route: review, expect: { outcome: accepted } }
`;
  const { run } = open(t, tests);
  const { code, stderr } = await run();
  assert.equal(code, 1);
  assert.match(stderr, /:2:\d+: error .*expect/);
  assert.match(stderr, /:3:\d+: error test-expectation: .*"acepted"/);
  assert.match(stderr, /:4:\d+: error test-request: /);
});
