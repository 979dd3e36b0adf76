/** The file in which a program hands over outputs. */
import assert from 'node:assert/strict';
import { linkSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { AgentRequest, OutputHandover } from '../../../../runtime/dispatch/agent-runner.ts';
import { openOutputs } from '../../../../runtime/dispatch/agents/outputs-folder.ts';
import { WorkFolders } from '../../../../runtime/dispatch/agents/work-folders.ts';
import { silentLog } from '../../../../runtime/platform/log.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

/** The lines that are read after `write` has replaced the file. */
async function handedBy(t: TestContext, write: (path: string, folder: string) => void): Promise<unknown> {
  const folder = tempDir(t);
  let found: unknown = null;
  const outputs: OutputHandover = {
    tools: [],
    take: (lines) => {
      found = lines;
    },
    refuse: (reason) => {
      found = reason;
    },
  };
  const workFolders = new WorkFolders(silentLog);
  const file = await openOutputs({ outputs, route: 'r' } as AgentRequest, { workFolders, folder });
  write(file.env.HOOKWRIGHT_OUTPUTS_FILE ?? '', folder);
  await file.close();
  await workFolders.close();
  assert.deepEqual(readdirSync(join(folder, 'work', 'runs')), [], 'its folder is removed');
  return found;
}

const LINE = '{"output":"note","text":"ü"}';

test('its lines are read, without blank ones', async (t) => {
  assert.deepEqual(await handedBy(t, (path) => writeFileSync(path, `${LINE}\n\n  \n${LINE}`)), [LINE, LINE]);
});

test('a program without outputs needs no file', async (t) => {
  assert.equal(await handedBy(t, () => {}), null);
});

const REFUSED: readonly (readonly [what: string, write: (path: string, folder: string) => void, reason: RegExp])[] = [
  ['a file over 256 KB', (path) => writeFileSync(path, 'x'.repeat(256 * 1024 + 1)), /\b262144\b/],
  ['bytes that are not UTF-8', (path) => writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d])), /UTF-8/],
  ['a folder', (path) => mkdirSync(path), /EISDIR/],
  [
    'a link to another file',
    (path, folder) => {
      writeFileSync(join(folder, 'other'), LINE);
      symlinkSync(join(folder, 'other'), path);
    },
    /ENOTREG/,
  ],
  [
    'another name of another file',
    (path, folder) => {
      writeFileSync(join(folder, 'other'), LINE);
      linkSync(join(folder, 'other'), path);
    },
    /ENOTREG/,
  ],
  ['a device', (path) => symlinkSync('/dev/zero', path), /ENOTREG/],
];

for (const [what, write, reason] of REFUSED) {
  test(`${what} is rejected and reported`, async (t) => {
    assert.match(String(await handedBy(t, write)), reason);
  });
}

test('a folder that cannot be created fails the run', async (t) => {
  const folder = tempDir(t);
  writeFileSync(join(folder, 'work'), '');
  const request = { route: 'r' } as AgentRequest;
  await assert.rejects(
    openOutputs(request, { workFolders: new WorkFolders(silentLog), folder }),
    /cannot create the folder/,
  );
});
