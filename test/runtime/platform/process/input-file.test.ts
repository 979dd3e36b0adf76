import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { inputFolder, lackOf, removeInputs, runProcess } from '../../../../runtime/platform/process/run-process.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

async function runNode(t: TestContext, program: string, stdin: string, home = tempDir(t)) {
  const limits = { timeoutMs: 60_000, maxStdoutBytes: 1024 * 1024 };
  const request = { argv: [process.execPath, '-e', program], cwd: '/', env: {}, stdin, ...limits };
  const result = await runProcess(request, { clock: systemClock, home });
  return { home, result, stdout: result.kind === 'exit' ? result.stdout.toString() : '' };
}

describe('the input of a program', () => {
  it('is a read-only file without a name, complete before the program starts', async (t) => {
    const program = `
      const { size, nlink, mode } = fs.fstatSync(0);
      let refused = '';
      try { fs.writeSync(0, 'x') } catch (error) { refused = error.code }
      console.log(JSON.stringify({ size, nlink, mode: (mode & 0o7777).toString(8), isFile: fs.fstatSync(0).isFile(), refused }));`;
    const text = 'é'.repeat(200_000);
    const { home, stdout } = await runNode(t, program, text);
    assert.deepEqual(JSON.parse(stdout), { size: 400_000, nlink: 0, mode: '600', isFile: true, refused: 'EBADF' });
    assert.deepEqual(readdirSync(inputFolder(home)), []);
  });

  it('is read as a whole, however slowly', async (t) => {
    const program = `
      const buffer = Buffer.alloc(65536);
      let bytes = 0;
      const read = () => { const n = fs.readSync(0, buffer); bytes += n; n === 0 ? console.log(bytes) : setTimeout(read, 5) };
      setTimeout(read, 50);`;
    assert.equal((await runNode(t, program, 'x'.repeat(400_000))).stdout, '400000\n');
  });

  it('is empty without a file', async (t) => {
    const { home, stdout } = await runNode(t, 'console.log(fs.readFileSync(0).length)', '');
    assert.equal(stdout, '0\n');
    assert.ok(!existsSync(inputFolder(home)));
  });

  it('that cannot be written starts no program, and counts as a lack of the machine', async (t) => {
    const home = tempDir(t);
    mkdirSync(join(home, 'run'));
    writeFileSync(inputFolder(home), 'no folder');
    const mark = join(home, 'started');
    const { result } = await runNode(t, `fs.writeFileSync(${JSON.stringify(mark)}, '')`, 'text', home);
    assert.equal(result.kind, 'input_failed');
    assert.match(lackOf(result) ?? '', /\bENOTDIR\b/);
    assert.ok(!existsSync(mark));
  });

  it('left by a killed process is removed at the next start', async (t) => {
    const home = tempDir(t);
    await removeInputs(home);
    mkdirSync(inputFolder(home), { recursive: true });
    writeFileSync(join(inputFolder(home), 'left'), 'a prompt');
    await removeInputs(home);
    assert.deepEqual(readdirSync(inputFolder(home)), []);
  });
});
