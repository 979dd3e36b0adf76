/** Which jobs of a shared database a gateway runs, by the document that signs them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { DatabaseJob } from '../../../../modules/cluster/runtime/postgres/signed-jobs.ts';
import { createJobReader, jobDigest } from '../../../../modules/cluster/runtime/postgres/signed-jobs.ts';
import { Signatures, unsigned } from '../../../../modules/cluster/runtime/signatures.ts';

const keys = { key: () => '0123456789abcdef0123456789abcdef', tableKey: () => null };
const machine = (): Signatures => {
  const seen = new Map([['jobs', 0]]);
  const versions = {
    get: (kind: string) => seen.get(kind) ?? 0,
    raise: (kind: string, version: number) => void seen.set(kind, version),
  };
  return new Signatures(keys, versions, () => 1000);
};
const row = (id: string, prompt: string): DatabaseJob => {
  const name = `job-${id}`;
  const when = { schedule: '0 3 * * *', timezone: 'UTC', misfire: 'skip', created_at: 0 };
  const rest = { profile: 'default', description: null, deliver: [], skills: [], toolsets: null, blueprint: null };
  return { id, name, body: JSON.stringify({ id, name, prompt, ...when, ...rest }) };
};
const listOf = (signatures: Signatures, ...rows: readonly DatabaseJob[]): string => {
  const digests = Object.fromEntries(rows.map(({ id, body }) => [id, jobDigest(body)]));
  return signatures.sign({ kind: 'jobs', name: 'jobs' }, JSON.stringify(digests));
};
const prompts = (records: readonly { readonly id: string; readonly prompt: string }[]) =>
  records.map(({ id, prompt }) => `${id} ${prompt}`).sort();

it('an altered, added or removed job is named, and the job before goes on', () => {
  const signatures = machine();
  const read = createJobReader(signatures);
  const [a, b] = [row('a', 'good'), row('b', 'good')];
  const list = listOf(machine(), a, b);
  assert.deepEqual(prompts(read([a, b], list)), ['a good', 'b good']);
  assert.deepEqual(signatures.refused, []);
  assert.deepEqual(prompts(read([row('a', 'evil'), row('c', 'evil')], list)), ['a good', 'b good']);
  assert.match(signatures.refused.join(), /altered: "job-a" \(a\), "job-c" \(c\), b \(removed\); make them again/);
  assert.deepEqual(prompts(read([{ ...b, id: 'a' }, b], list)), ['a good', 'b good'], 'moved to another id');
  assert.deepEqual(prompts(read([a, b], list)), ['a good', 'b good']);
  assert.deepEqual(signatures.refused, []);
});

it('a gateway that has not seen the job before runs none in its place', () => {
  const signatures = machine();
  const [a, b] = [row('a', 'good'), row('b', 'good')];
  assert.deepEqual(prompts(createJobReader(signatures)([row('a', 'evil'), b], listOf(machine(), a, b))), ['b good']);
});

it('a job that was removed or changed does not come back with its old list', () => {
  const signatures = machine();
  const read = createJobReader(signatures);
  const [a, b] = [row('a', 'old'), row('b', 'good')];
  const writer = machine();
  const old = listOf(writer, a, b);
  writer.open({ kind: 'jobs', name: 'jobs' }, old);
  assert.deepEqual(prompts(read([b], listOf(writer, b))), ['b good']);
  assert.deepEqual(prompts(read([a, b], old)), ['b good']);
  assert.match(signatures.refused.join(), /the jobs in the database: older/);
});

it('a list that is not signed, or gone, leaves the jobs before', () => {
  for (const stored of [undefined, '{}', JSON.stringify({ e: jobDigest(row('e', 'evil').body) })]) {
    const signatures = machine();
    const read = createJobReader(signatures);
    const a = row('a', 'good');
    read([a], listOf(machine(), a));
    assert.deepEqual(prompts(read([row('e', 'evil')], stored)), ['a good']);
    assert.match(signatures.refused.join(), /the jobs in the database: (not signed|removed)/);
    assert.deepEqual(createJobReader(machine())([row('e', 'evil')], stored), []);
  }
});

it('where no key is set, what is stored is believed', () => {
  assert.deepEqual(prompts(createJobReader(unsigned())([row('a', 'any')], undefined)), ['a any']);
});
