/** A part of the corpus of damaged files; `npm run test:faults -- files` runs all of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempDir } from '../helpers/temp-dir.ts';
import { fileDamages, makeHomes, runFileCorpus } from './file-damage.ts';

/** Bytes of texts and numbers that stay valid: nothing can distinguish them from the written ones. */
const PLAUSIBLE = 0.2;

test('a damaged file is rejected, reported or harmless: no event is lost silently', async (t) => {
  const rows = await runFileCorpus(await makeHomes(tempDir(t)), fileDamages(6, 24));
  const wrong = rows.filter(({ damage, cells, silent }) =>
    damage === 'flipped' ? silent.length > cells * PLAUSIBLE : silent.length > 0,
  );
  assert.deepEqual(wrong, []);
});
