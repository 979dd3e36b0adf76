/** Type-checks and runs the documented programs that embed the package, as a consumer does. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { apiExports, examplesOf } from '../helpers/api-examples.ts';
import { installPacked } from '../helpers/packed.ts';
import { ROOT } from '../helpers/root.ts';

const OPTIONS = {
  target: 'es2023',
  lib: ['es2023'],
  types: ['node'],
  typeRoots: [join(ROOT, 'node_modules/@types')],
  strict: true,
  noEmit: true,
  skipLibCheck: false,
};

/** Module resolution of a consumer's compiler. The second runs only with `HOOKWRIGHT_LONG_TESTS=1`, because it takes seconds. */
const CONSUMERS = [
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
].slice(0, process.env.HOOKWRIGHT_LONG_TESTS === '1' ? 2 : 1);

describe('a program that embeds the packed package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookwright-embed-'));
  before(async () => {
    await installPacked(folder);
    cpSync(join(ROOT, 'examples/embed'), folder, { recursive: true });
    const examples = apiExports().flatMap(examplesOf);
    for (const [at, { code }] of examples.entries()) writeFileSync(join(folder, `api-${at}.ts`), code);
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const resolution of CONSUMERS) {
    const name = resolution.moduleResolution;
    test(`type-checks with ${name}, strictly and with the types of its dependencies`, () => {
      const config = join(folder, `tsconfig.${name}.json`);
      const settings = { compilerOptions: { ...OPTIONS, ...resolution }, include: ['*.ts'] };
      writeFileSync(config, JSON.stringify(settings));
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', config], { cwd: folder, encoding: 'utf8' });
      assert.equal(stdout, '');
      assert.equal(status, 0);
    });
  }

  for (const name of ['embed', 'mount']) {
    test(`${name}.ts prints the output in its first comment`, () => {
      const entry = join(folder, `${name}.ts`);
      const tsx = join(ROOT, 'node_modules/tsx/dist/cli.mjs');
      const { status, stdout, stderr } = spawnSync(process.execPath, [tsx, entry], {
        cwd: folder,
        encoding: 'utf8',
        timeout: 600_000,
        env: { PATH: process.env.PATH },
      });
      assert.equal(stdout.replaceAll(/"error":"[^"]+",/g, ''), EXPECTED[name], stderr);
      assert.equal(status, 0);
    });
  }
});

const ACCEPTED = '202 {"status":"accepted","route":"issues","event":"issues","delivery_id":"1"}\n';

const EXPECTED: Readonly<Record<string, string>> = {
  embed: `${ACCEPTED}200 {"status":"duplicate","route":"issues","delivery_id":"1"}\ndispatch: done\nemitted: accepted\npushed: event\n`,
  mount: `404 {"status":"error","code":"unknown_route"}\n401 {"status":"error","code":"invalid_signature"}\nhello from the app\n`,
};
