/** What docs/running.md and docs/backups.md say about storing and retrying is what the code does. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { formatDuration } from '../../cli/output/table.ts';
import { nominalWait } from '../../runtime/dispatch/persist.ts';
import { openOfflineStore } from '../../runtime/store/sqlite/open-store.ts';
import { SHOWN_STATES } from '../../runtime/store/states.ts';
import { runInProcess } from '../helpers/cli.ts';
import { HOLDER, makeAccept, makeAdvance } from '../helpers/dispatches.ts';
import { codeBlocks } from '../helpers/markdown.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const page = ['running', 'backups']
  .map((name) => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8'))
  .join('\n');

/** The rows of the table whose header begins with `title`, cells trimmed. */
function table(title: string): string[][] {
  const lines = page.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${title} `));
  assert.ok(start >= 0, title);
  const rows = lines.slice(start + 2);
  const end = rows.findIndex((line) => !line.startsWith('|'));
  return rows.slice(0, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const short = (ms: number): string => formatDuration(ms);

describe('docs/running.md, docs/backups.md', () => {
  it('prints the retry schedule as it is', () => {
    let since = 0;
    const expected = [1, 2, 3, 4, 5, 6, 7].map((attempt) => {
      since += nominalWait(attempt);
      return [String(attempt), short(nominalWait(attempt)), short(since)];
    });
    assert.deepEqual(table('after attempt'), [...expected, ['8 and later', short(nominalWait(8)), '']]);
  });

  it('names every state', () => {
    assert.deepEqual(
      table('state').map(([name]) => name),
      SHOWN_STATES.map((state) => `\`${state}\``),
    );
  });

  it('gives the defaults of the configuration', () => {
    const schema = JSON.parse(readFileSync(new URL('../../schemas/config.schema.json', import.meta.url), 'utf8'));
    const { gateway, agent } = schema.$defs;
    const { max_attempts, retention_days, retention_max_mb, durability } = gateway.properties;
    assert.ok(page.includes(`\`gateway.max_attempts\` attempts (${max_attempts.default};`));
    assert.ok(page.includes(`\`gateway.retention_days\` (${retention_days.default})`));
    assert.ok(page.includes(`\`gateway.retention_max_mb\` (${retention_max_mb.default})`));
    assert.ok(page.includes(`\`agent.max_attempts\` times (${agent.properties.max_attempts.default})`));
    assert.ok(page.includes(`\`${durability.default}\` (default)`));
  });

  it('shows commands that work', async (t) => {
    const home = tempDir(t);
    const store = await openOfflineStore(join(home, 'state.db'));
    const stored = await store.write(makeAccept('abc', { work: { kind: 'held', holder: HOLDER } }));
    assert.ok(stored.kind === 'stored');
    await store.write(makeAdvance(stored.ref, 'dead', Date.now(), { reason: 'x' }));
    await store.close();
    const lines = codeBlocks(page)
      .flatMap(({ text }) => text.split('\n'))
      .filter((line) => line.startsWith('hookwright deliveries'));
    assert.equal(lines.length, 4);
    for (const line of lines) {
      const { code, stderr } = await runInProcess(line.replace('<id>', 'abc').split(' ').slice(1), { home });
      assert.equal(code, 0, `${line}: ${stderr}`);
    }
  });

  it('shows a backup that can be taken beside a writer and holds everything committed', async (t) => {
    const home = tempDir(t);
    const path = join(home, 'state.db');
    const store = await openOfflineStore(path);
    t.after(() => store.close());
    await store.write(makeAccept('abc'));
    const copy = join(home, 'copy.db');
    assert.match(page, /^hookwright store backup \/backup\/state\.db$/m);
    await store.read({ kind: 'back_up', to: copy });
    assert.ok(existsSync(copy));
    const copied = await openOfflineStore(copy);
    const found = await copied.read({ kind: 'find', id: 'abc' });
    assert.equal(found.kind === 'found' && found.dispatch.state, 'pending');
    assert.deepEqual(await copied.read({ kind: 'audit' }), []);
    await copied.close();
  });
});
