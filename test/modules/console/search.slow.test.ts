/** Text search in captured requests: each page searches a limited number, newest first. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { requestRows } from '../../../bench/cases/capture.ts';
import type { Api } from '../../../modules/console/runtime/api/generated/api.ts';
import { RequestFile } from '../../../modules/workbench/runtime/capture/request-file.ts';
import { capturePath } from '../../../modules/workbench/runtime/capture/requests.ts';
import { startConsole } from '../../helpers/console.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms: { webhook: { enabled: true, secret: a-literal-secret-for-tests, routes: { a: { prompt: x } } } }
gateway: { console: { port: 0 } }
`;

const KEPT = 30_000;

it('continues from page to page, finds each request once, and ends with the oldest', async (t) => {
  const home = tempDir(t);
  const file = new RequestFile(capturePath(home));
  for (const rows of requestRows(KEPT, Date.now() - KEPT * 100)) file.add(rows);
  file.close();
  const { get } = await startConsole(t, CONFIG, {}, home);
  const pages = async (query: string): Promise<(readonly string[])[]> => {
    const found: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null && found.length < 20; ) {
      const page: Api['listRequests']['output'] = await get<'listRequests'>(
        `/api/requests?limit=2&${query}${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      found.push(page.items.map(({ delivery_id }) => delivery_id));
      cursor = page.next;
    }
    return found;
  };
  assert.deepEqual(await pages('grep=d-20000'), [['d-20000'], [], []]);
  assert.deepEqual(await pages('grep=d-19999'), [[], ['d-19999'], []]);
  assert.deepEqual(await pages('grep=nowhere'), [[], [], []]);
  const all = await pages('grep=d-1999');
  const names = Array.from({ length: 10 }, (_, n) => `d-1999${9 - n}`);
  assert.deepEqual(all.flat(), [...names, 'd-1999']);
  assert.deepEqual(all[1], names.slice(0, 2));
});
