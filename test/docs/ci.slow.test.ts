/** What is shipped for CI works: the action's script, the hooks, and every command that docs/ci.md shows. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { printPublishedSchema } from '../../scripts/docs/published-schema.ts';
import { SELF } from '../helpers/cli.ts';
import { codeBlocks } from '../helpers/markdown.ts';
import { ROOT } from '../helpers/root.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const GOOD = `platforms:
  webhook: { enabled: true, secret: env:WEBHOOK_SECRET, routes: { alerts: { prompt: "{title}" } } }
`;
const BAD = GOOD.replace('prompt', 'promt');

const read = (path: string): unknown => parse(readFileSync(join(ROOT, path), 'utf8'));

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly runs: {
    readonly steps: readonly { readonly run?: string; readonly env?: Readonly<Record<string, string>> }[];
  };
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly folder: string;
}

/** An npm whose package runs this program. */
const NPM_THAT_INSTALLS = `#!/bin/sh
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/hookwright/dist/cli"
cat > "$2/node_modules/hookwright/dist/cli/main.js" <<'END'
const [program, ...argv] = ${JSON.stringify(SELF)};
const { status } = require('node:child_process').spawnSync(program, [...argv, ...process.argv.slice(2)], { stdio: 'inherit' });
process.exit(status);
END
`;

/** Runs a script with \`npx\`, \`hookwright\` and what \`npm\` installs standing for this program. */
async function runScript(
  t: TestContext,
  script: string,
  env: Readonly<Record<string, string>>,
  config: string,
): Promise<Ran> {
  const [folder, bin] = [tempDir(t), tempDir(t)];
  const self = SELF.map((part) => `'${part}'`).join(' ');
  writeFileSync(join(bin, 'hookwright'), `#!/bin/sh\nexec ${self} "$@"\n`);
  writeFileSync(
    join(bin, 'npx'),
    `#!/bin/sh\n[ "$1" = --yes ] && shift\ncase "$1" in hookwright* | ./ci/hookwright-*.tgz) shift ;; *) exit 127 ;; esac\nexec ${self} "$@"\n`,
  );
  writeFileSync(join(bin, 'npm'), NPM_THAT_INSTALLS);
  for (const name of ['hookwright', 'npx', 'npm']) chmodSync(join(bin, name), 0o755);
  writeFileSync(join(folder, 'hookwright.yaml'), config);
  return new Promise((resolve) => {
    execFile(
      'bash',
      ['-e', '-o', 'pipefail', '-c', script],
      { cwd: folder, env: { PATH: `${bin}:${process.env.PATH}`, HOME: folder, ...env } },
      (error, stdout) => resolve({ code: error === null ? 0 : Number(error.code), stdout, folder }),
    );
  });
}

test('the action annotates, writes SARIF, and fails when lint does', async (t) => {
  const action = read('action.yml') as Action;
  const [step] = action.runs.steps;
  const defaults = Object.fromEntries(
    Object.entries(step?.env ?? {}).map(([name, input]) => {
      const key = /inputs\.([\w-]+)/.exec(input)?.[1] ?? '';
      return [name, action.inputs[key]?.default ?? ''];
    }),
  );
  const script = step?.run ?? '';
  const bad = await runScript(t, script, { ...defaults, FILES: 'hookwright.yaml', SARIF: 'out.sarif' }, BAD);
  assert.equal(bad.code, 1);
  assert.match(bad.stdout, /^::error file=hookwright\.yaml,line=2,.*unknown-key/m);
  const log = JSON.parse(readFileSync(join(bad.folder, 'out.sarif'), 'utf8')) as { runs: { results: unknown[] }[] };
  assert.equal(log.runs[0]?.results.length, 1);
  const good = await runScript(t, script, defaults, GOOD);
  assert.deepEqual([good.code, good.stdout], [0, '']);
  assert.equal(existsSync(join(good.folder, 'out.sarif')), false);
});

test('the action names files in a folder as seen from the top of the repository', async (t) => {
  const action = read('action.yml') as Action;
  const inFolder = `mkdir deploy && mv hookwright.yaml deploy\n${action.runs.steps[0]?.run}`;
  const given = { FOLDER: 'deploy', STRICT: 'true', VERSION: '0.1.0', SARIF: 'out.sarif' };
  for (const FILES of ['', 'hookwright.yaml']) {
    const { code, stdout, folder } = await runScript(t, inFolder, { ...given, FILES }, BAD);
    assert.equal(code, 1);
    assert.match(stdout, /^::error file=deploy\/hookwright\.yaml,/m);
    assert.match(readFileSync(join(folder, 'deploy/out.sarif'), 'utf8'), /"deploy\/hookwright\.yaml"/);
  }
});

test('the action lints each of several files, on lines or beside each other', async (t) => {
  const action = read('action.yml') as Action;
  const script = `cp hookwright.yaml other.yaml; mv hookwright.yaml one.yaml\n${action.runs.steps[0]?.run}`;
  const given = { FOLDER: '.', STRICT: 'true', VERSION: '0.1.0', SARIF: '' };
  for (const FILES of ['one.yaml\nother.yaml\n', 'one.yaml other.yaml', '\n  one.yaml\r\n\n\tother.yaml']) {
    const { code, stdout } = await runScript(t, script, { ...given, FILES }, BAD);
    assert.equal(code, 1);
    assert.deepEqual([...new Set(stdout.match(/file=[^,]+/g))], ['file=one.yaml', 'file=other.yaml']);
  }
});

test('the action runs the version of this package, and workflows run actions by their commits', () => {
  const { inputs } = read('action.yml') as Action;
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  assert.equal(inputs.version?.default, version);
  const files = [
    'action.yml',
    'docs/ci.md',
    '.github/workflows/publish.yml',
    'examples/ci-lint/.github/workflows/hookwright.yml',
  ];
  const used = files.flatMap((file) => [...readFileSync(join(ROOT, file), 'utf8').matchAll(/uses: (\S+)(.*)/g)]);
  const others = used.filter(([, uses]) => !uses?.startsWith('hookwright/'));
  assert.ok(others.length >= 8);
  for (const [line] of others) assert.match(line, /uses: [\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test('what may sign provenance runs no code of the repository', () => {
  type Job = { permissions?: Record<string, string>; steps: { run?: string; uses?: string }[] };
  const { permissions, jobs } = read('.github/workflows/publish.yml') as {
    permissions: Record<string, string>;
    jobs: Record<string, Job>;
  };
  assert.deepEqual(permissions, { contents: 'read' });
  const signing = Object.values(jobs).filter((job) => job.permissions?.['id-token'] !== undefined);
  assert.equal(signing.length, 1);
  for (const { run = '', uses = '' } of signing[0]?.steps ?? []) {
    assert.doesNotMatch(uses, /checkout/);
    assert.doesNotMatch(run, /\.ci\/run|npm (?:ci|test|run|install)|tsx|npx/);
  }
});

test('no input is pasted into a script of the action', () => {
  const action = read('action.yml') as Action;
  for (const { run } of action.runs.steps) assert.doesNotMatch(run ?? '', /\$\{\{/);
});

test('the hooks of pre-commit check the files they are given', async (t) => {
  const hooks = read('.pre-commit-hooks.yaml') as { id: string; entry: string; files: string }[];
  assert.deepEqual(
    hooks.map(({ id }) => id),
    ['hookwright-lint', 'hookwright-fix'],
  );
  for (const { entry, files } of hooks) {
    assert.ok(new RegExp(files).test('deploy/hookwright.yaml'));
    assert.equal((await runScript(t, `${entry} hookwright.yaml`, {}, GOOD)).code, 0);
  }
  assert.equal((await runScript(t, `${hooks[0]?.entry} hookwright.yaml`, {}, BAD)).code, 1);
  const fixed = await runScript(t, `${hooks[1]?.entry} hookwright.yaml`, {}, BAD);
  assert.equal(readFileSync(join(fixed.folder, 'hookwright.yaml'), 'utf8'), GOOD);
});

test('the job for GitLab CI runs as it is shown', async (t) => {
  const page = readFileSync(join(ROOT, 'docs/ci.md'), 'utf8');
  const block = codeBlocks(page).find(({ text }) => text.includes('node:22-slim'));
  const { hookwright } = parse(block?.text ?? '') as { hookwright: { script: string[] } };
  const ran = await runScript(t, hookwright.script.join('\n'), {}, GOOD);
  assert.equal(ran.code, 0);
  assert.equal(existsSync(join(ran.folder, 'hookwright.sarif')), true);
});

test('the workflow uses inputs that the action has', () => {
  const page = readFileSync(join(ROOT, 'docs/ci.md'), 'utf8');
  const block = codeBlocks(page).find(({ text }) => text.includes('upload:'));
  const workflow = parse(block?.text ?? '') as { jobs: { lint: { steps: { uses: string; with?: object }[] } } };
  const step = workflow.jobs.lint.steps.find(({ uses }) => uses.startsWith('hookwright/'));
  const { inputs } = read('action.yml') as Action;
  for (const name of Object.keys(step?.with ?? {})) assert.ok(Object.hasOwn(inputs, name), name);
});

test('the schema at its address takes the examples and refuses a slip, and its entry for SchemaStore names it', async () => {
  const entry = JSON.parse(readFileSync(join(ROOT, 'schemas/published/schemastore.json'), 'utf8')) as { url: string };
  assert.match(
    entry.url,
    /^https:\/\/[^/]+\/hookwright\/hookwright\/releases\/latest\/download\/hookwright\.schema\.json$/,
  );
  const workflow = readFileSync(join(ROOT, '.github/workflows/publish.yml'), 'utf8');
  assert.match(workflow, /gh release create .* hookwright\.schema\.json /, 'a release has the file of that address');
  const schema = JSON.parse(await printPublishedSchema()) as { $id: string };
  assert.equal(schema.$id, entry.url);
  const validate = new Ajv2020({ strict: false }).compile(schema);
  for (const example of ['alerts', 'burst', 'ci-lint', 'code-review', 'quickstart']) {
    assert.ok(validate(read(`examples/${example}/hookwright.yaml`)), example);
  }
  assert.equal(validate(parse(BAD)), false);
});
