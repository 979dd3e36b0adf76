/** Tests the action in a checkout whose author wants to control what runs with the step's token. */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { parse } from 'yaml';
import type { Ending } from '../helpers/at-end.ts';
import { atEnd } from '../helpers/at-end.ts';
import { ROOT } from '../helpers/root.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const VERSION = '0.1.0';
const TOKEN = 'a-token-of-the-step';

interface Step {
  readonly run: string;
  readonly env: Readonly<Record<string, string>>;
}

const [step] = (parse(readFileSync(join(ROOT, 'action.yml'), 'utf8')) as { runs: { steps: Step[] } }).runs.steps;

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

/** A registry of one package that prints its arguments. @returns its URL, and the requested paths */
async function serveRegistry(t: Ending): Promise<{ readonly url: string; readonly asked: string[] }> {
  const folder = tempDir(t);
  write(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'hookwright', version: VERSION, scripts: { install: 'exit 1' } }),
  );
  write(
    join(folder, 'dist/cli/main.js'),
    'console.log(JSON.stringify({ argv: process.argv.slice(2), env: process.env, cwd: process.cwd() }));\n',
  );
  execFileSync('npm', ['pack', '--silent'], { cwd: folder });
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url?.endsWith('.tgz') === true)
      return void response.end(readFileSync(join(folder, `hookwright-${VERSION}.tgz`)));
    const dist = { tarball: `${url}/hookwright-${VERSION}.tgz` };
    const version = { name: 'hookwright', version: VERSION, dist };
    response.end(
      JSON.stringify({ name: 'hookwright', 'dist-tags': { latest: VERSION }, versions: { [VERSION]: version } }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked };
}

/** A checkout in which everything leads to `evil`, which leaves a file behind. */
function makeCheckout(t: Ending, registry: string): { readonly folder: string; readonly isUntouched: () => boolean } {
  const [folder, mark] = [tempDir(t), join(tempDir(t), 'evil')];
  const evil = `#!/bin/sh\ntouch '${mark}'\necho evil\n`;
  for (const name of ['hookwright', 'npm', 'npx', 'node', 'env', 'mktemp', 'rm']) {
    write(join(folder, 'node_modules/.bin', name), evil, 0o755);
    write(join(folder, 'bin', name), evil, 0o755);
  }
  const script = `require('node:fs').writeFileSync(${JSON.stringify(mark)}, '');\n`;
  write(join(folder, 'evil.js'), script);
  write(join(folder, 'evil.sh'), evil, 0o755);
  write(join(folder, 'node_modules/hookwright/dist/cli/main.js'), script);
  write(
    join(folder, 'node_modules/hookwright/package.json'),
    JSON.stringify({ name: 'hookwright', version: VERSION, bin: 'dist/cli/main.js' }),
  );
  write(
    join(folder, 'package.json'),
    JSON.stringify({
      name: 'hookwright',
      version: VERSION,
      bin: 'evil.sh',
      scripts: { preinstall: './evil.sh' },
      workspaces: ['.'],
    }),
  );
  write(
    join(folder, '.npmrc'),
    `registry=${registry}\n@clack:registry=${registry}\nscript-shell=${folder}/evil.sh\nnode-options=--require ${folder}/evil.js\nignore-scripts=false\nprefix=${folder}\n`,
  );
  write(join(folder, 'hookwright.yaml'), 'platforms: {}\n');
  return { folder, isUntouched: () => !existsSync(mark) };
}

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function runStep(
  t: Ending,
  folder: string,
  inputs: Record<string, string>,
  more: Record<string, string> = {},
): Promise<Ran> {
  assert.ok(step !== undefined);
  const [temp, linked] = [tempDir(t), join(tempDir(t), 'linked')];
  symlinkSync(join(folder, 'bin'), linked);
  const places = [join(folder, 'node_modules/.bin'), 'node_modules/.bin', './bin', '', linked, more.FIRST ?? ''].join(
    ':',
  );
  const env = {
    ...{ PATH: `${places}:${process.env.PATH}`, HOME: folder, RUNNER_TEMP: temp, GITHUB_TOKEN: TOKEN },
    ...{
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: TOKEN,
      NODE_OPTIONS: `--require ${folder}/evil.js`,
      NODE_PATH: `${folder}/node_modules`,
    },
    ...{
      NPM_CONFIG_USERCONFIG: `${folder}/.npmrc`,
      npm_config_globalconfig: `${folder}/.npmrc`,
      BASH_ENV: `${folder}/evil.sh`,
    },
    ...more,
    ...Object.fromEntries(Object.entries(step.env).filter(([, value]) => !value.includes('{{'))),
    ...{ FOLDER: '.', FILES: '', STRICT: 'true', VERSION, REGISTRY: '', SARIF: '' },
    ...inputs,
  };
  return new Promise((resolve) => {
    execFile(
      '/bin/bash',
      ['--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', step.run],
      { cwd: folder, env },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

it('the checkout and the variables of the job cannot change what runs', async (t) => {
  const [genuine, strange] = [await serveRegistry(t), await serveRegistry(t)];
  const { folder, isUntouched } = makeCheckout(t, strange.url);
  const outside = join(tempDir(t), 'important');
  write(outside, 'kept');
  symlinkSync(outside, join(folder, 'out.sarif'));
  const inputs = { REGISTRY: genuine.url, FILES: 'a.yaml\nb/*.yaml\n', SARIF: 'out.sarif' };
  const { code, stdout, stderr } = await runStep(t, folder, inputs, { NPM_CONFIG_REGISTRY: strange.url });
  assert.equal(code, 0, stderr);
  assert.ok(isUntouched());
  assert.deepEqual([strange.asked, genuine.asked.length > 1], [[], true]);
  const ran = JSON.parse(stdout) as { argv: string[]; env: Record<string, string>; cwd: string };
  assert.deepEqual(ran.argv, ['lint', '--strict', '--format', 'github', '--', 'a.yaml', 'b/*.yaml']);
  assert.equal(ran.cwd, folder);
  assert.doesNotMatch(JSON.stringify(ran.env), new RegExp(`${TOKEN}|NODE_OPTIONS|NODE_PATH|npm_config|${folder}`, 'i'));
  assert.equal(readFileSync(outside, 'utf8'), 'kept');
  assert.match(readFileSync(join(folder, 'out.sarif'), 'utf8'), /"sarif"/);
});

it('no folder of the checkout redirects the results', async (t) => {
  const { url } = await serveRegistry(t);
  const { folder } = makeCheckout(t, url);
  const outside = tempDir(t);
  write(join(outside, 'important'), 'kept');
  symlinkSync(outside, join(folder, 'results'));
  for (const inputs of [{ SARIF: 'results/important' }, { FOLDER: 'results', SARIF: 'important' }] as const) {
    const { code, stdout } = await runStep(t, folder, { REGISTRY: url, ...inputs });
    assert.equal(code, 1, stdout);
    assert.equal(readFileSync(join(outside, 'important'), 'utf8'), 'kept');
  }
  mkdirSync(join(folder, 'own'));
  assert.equal((await runStep(t, folder, { REGISTRY: url, SARIF: 'own/out.sarif' })).code, 0);
  assert.ok(existsSync(join(folder, 'own/out.sarif')));
});

it("without a registry, npm's default is used, whatever is configured", async (t) => {
  const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  const { folder, isUntouched } = makeCheckout(t, 'http://127.0.0.1:9');
  const [bin, empty] = [tempDir(t), tempDir(t)];
  // Prints the registries that npm would use, instead of using them.
  write(
    join(bin, 'npm'),
    `#!/bin/bash\nset -- "\${@:2:$#-2}" # without install and the package\n` +
      `for key in registry @clack:registry script-shell node-options; do echo "$('${npm}' config get "$key" "$@")"; done >&2\nexit 3\n`,
    0o755,
  );
  const { code, stderr } = await runStep(t, folder, {}, { FIRST: bin, npm_config_registry: 'http://127.0.0.1:9' });
  assert.equal(code, 3, stderr);
  assert.ok(isUntouched());
  const none = ['--userconfig', join(empty, 'user'), '--globalconfig', join(empty, 'global')];
  const clean = { cwd: empty, env: { PATH: process.env.PATH, HOME: empty }, encoding: 'utf8' } as const;
  const get = (key: string) => execFileSync(npm, ['config', 'get', key, ...none], clean).trim();
  const [registry, scoped, shell, options] = stderr.trim().split('\n').slice(-4);
  assert.match(registry ?? '', /^https:/);
  assert.deepEqual(
    [registry, scoped, shell, options],
    ['registry', '@clack:registry', 'script-shell', 'node-options'].map(get),
  );
});

it('an inexact version sends no request', async (t) => {
  const registry = await serveRegistry(t);
  const { folder, isUntouched } = makeCheckout(t, registry.url);
  for (const bad of ['latest', '^0.1.0', '0.1', '', 'file:./', '0.1.0 --registry=x', `0.1.0\nevil`, 'npm:evil@1.0.0']) {
    const { code } = await runStep(t, folder, { VERSION: bad, REGISTRY: registry.url });
    assert.equal(code, 1, bad);
  }
  assert.deepEqual([registry.asked, isUntouched()], [[], true]);
});
