/**
 * Foreign configs next to their conversions in test/fixtures/convert/<program>/<case>: the config, the report and the
 * names of the variables. UPDATE=1 rewrites the results. Each result compiles and contains no secret.
 */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parseEnvLines } from '../../../base/files.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { ROOT } from '../../helpers/root.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const FIXTURES = join(ROOT, 'test/fixtures/convert');

for (const program of readdirSync(FIXTURES)) {
  describe(`convert ${program}`, () => {
    for (const name of readdirSync(join(FIXTURES, program))) {
      test(name, async (t) => {
        const [home, cwd] = [tempDir(t), tempDir(t)];
        const fixture = join(FIXTURES, program, name);
        const file = inputOf(fixture);
        copyFileSync(join(fixture, file), join(cwd, file));
        if (existsSync(join(fixture, 'input.env'))) copyFileSync(join(fixture, 'input.env'), join(cwd, '.env'));
        const result = await runInProcess(['convert', program, file, '--out', 'out'], { home, cwd });
        const config = readFileSync(join(cwd, 'out/hookwright.yaml'), 'utf8');
        const env = existsSync(join(cwd, 'out/.env')) ? readFileSync(join(cwd, 'out/.env'), 'utf8') : '';
        expectFile(join(fixture, 'hookwright.yaml'), config);
        expectFile(join(fixture, 'report.txt'), `${result.stderr}exit ${result.code}\n`);
        expectFile(join(fixture, 'variables.txt'), env.replace(/(?<==).+$/gm, '…'));
        if (env !== '') assert.equal(statSync(join(cwd, 'out/.env')).mode & 0o777, 0o600);
        for (const secret of parseEnvLines(env).values.values())
          assert.ok(![config, result.stdout, result.stderr].some((text) => text.includes(secret)), 'a secret is shown');
        const compiled = await runInProcess(['compile'], { home, cwd: join(cwd, 'out') });
        assert.equal(compiled.code, 0, compiled.stderr);
      });
    }
  });
}

const inputOf = (fixture: string): string =>
  readdirSync(fixture).find((file) => /^(?:config|hooks)\./.test(file)) ?? assert.fail(`no input in ${fixture}`);

function expectFile(path: string, text: string): void {
  if (process.env.UPDATE === '1') writeFileSync(path, text);
  const expected = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (withoutMessages(text) !== withoutMessages(expected)) assert.equal(text, expected, path);
}

/** Messages of the compiler are tested elsewhere and may change. */
const withoutMessages = (text: string): string =>
  text.includes('refuses it:')
    ? text.replace(/\s+(?:#\s+)?/g, ' ').replace(/refuses it: .*?(?=\.? Put it right)/g, 'refuses it')
    : text;
