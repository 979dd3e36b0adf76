import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { source as validateSource } from '../../schemas/built/validators.ts';
import type { SourceFile } from '../../schemas/generated/types.ts';
import { loadShippedSources } from '../helpers/catalog-sources.ts';
import { vectors } from '../helpers/vectors.ts';

const FOLDER = new URL('../../catalog/sources/', import.meta.url);
const files = readdirSync(FOLDER).map((file) => ({
  name: file.replace('.yaml', ''),
  file: parse(readFileSync(new URL(file, FOLDER), 'utf8')) as SourceFile,
}));
const sources = loadShippedSources();

test('every shipped source is a source file', () => {
  for (const { name, file } of files) assert.ok(validateSource(file), name);
});

test('no two sources share a name', () => {
  const names = sources.entries.flatMap(({ name, file }) => [name, ...(file.aliases ?? [])]);
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});

test('every scheme of the vectors is shipped under its name', () => {
  for (const { scheme } of vectors) assert.equal(sources.plan(scheme).name.length > 0, true, scheme);
});

test('every source has a title, a documentation URL and its evidence', () => {
  for (const { name, file } of sources.entries) {
    assert.ok(file.title !== undefined, `${name}: title`);
    assert.ok(file.evidence !== undefined, `${name}: evidence`);
    assert.ok(file.docs !== undefined || name.startsWith('generic-'), `${name}: docs`);
  }
});

test('event names are unique, and listed only if a location of the event type exists', () => {
  for (const { name, file } of sources.entries) {
    const events = file.events ?? [];
    assert.equal(new Set(events).size, events.length, name);
    assert.ok(events.length === 0 || file.event !== undefined, `${name}: no place of the event type`);
  }
});

test('a source that does not sign the body has a note', () => {
  for (const { name, file } of sources.entries) {
    if (file.verify === 'token' || file.verify === 'basic') assert.notEqual(file.notes ?? [], [], name);
  }
});
