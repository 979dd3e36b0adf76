import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printCatalog } from '../../../compiler/emit/emit-table.ts';
import { publish } from '../../../modules/blueprints/compiler/publish.ts';
import { blueprint as validateFile } from '../../../schemas/built/validators.ts';
import type { BlueprintField, PublishedBlueprint } from '../../../schemas/generated/types.ts';
import type { TableField } from '../../helpers/blueprint-table.ts';
import { tableSources } from '../../helpers/blueprint-table.ts';
import { schemaValidator } from '../../helpers/schema-validator.ts';
import { blueprintFileNames, readBlueprintFile, shippedBlueprints } from '../../helpers/shipped-blueprints.ts';

const catalog = publish(shippedBlueprints(), 'hookwright');

function find(key: string): PublishedBlueprint {
  const entry = catalog.find((one) => one.key === key);
  assert.ok(entry, `${key} is in the catalog`);
  return entry;
}

const WEEKDAYS = ['everyday', 'weekdays', 'weekends'];

function expectedField(row: TableField, actual: BlueprintField): Partial<BlueprintField> {
  return {
    name: row.name,
    type: row.type as BlueprintField['type'],
    default: row.default ?? actual.default,
    options: [...(row.options ?? (row.type === 'weekdays' ? WEEKDAYS : []))],
    optional: false,
    strict: true,
  };
}

for (const source of tableSources()) {
  test(`the catalog has exactly the blueprints of ${source.name}`, () => {
    assert.equal(source.rows.length, 14);
    assert.deepEqual(catalog.map((entry) => entry.key).sort(), source.rows.map((row) => row.key).sort());
  });

  for (const row of source.rows) {
    test(`${row.key} is as in ${source.name}`, () => {
      const entry = find(row.key);
      assert.equal(entry.category, row.category);
      assert.deepEqual(entry.tags, row.tags);
      assert.equal(entry.schedule, row.schedule);
      assert.equal(entry.scheduleHuman, row.human);
      const own = entry.fields.slice(0, -1);
      assert.deepEqual(
        own.map((field) => field.name),
        row.fields.map((field) => field.name),
      );
      for (const [index, field] of own.entries()) {
        const expected = row.fields[index];
        assert.ok(expected);
        assert.deepEqual({ ...field, ...expectedField(expected, field) }, field);
      }
    });
  }
}

test('every blueprint ends with the shared deliver field, the only one that is not strict', () => {
  for (const entry of catalog) {
    const last = entry.fields.at(-1);
    assert.ok(last);
    const { label, help, ...rest } = last;
    assert.ok(label !== '' && help !== '');
    assert.deepEqual(rest, {
      name: 'deliver',
      type: 'enum',
      default: 'origin',
      options: ['origin', 'local', 'telegram', 'discord', 'email'],
      optional: false,
      strict: false,
    });
    assert.deepEqual(
      entry.fields.filter((field) => !field.strict).map((field) => field.name),
      ['deliver'],
    );
  }
});

test('an entry has exactly the fields of §2.8, in their order', () => {
  for (const entry of catalog) {
    assert.equal(
      Object.keys(entry).join(' '),
      'key title description category tags fields schedule scheduleHuman command appUrl',
    );
    for (const field of entry.fields) {
      assert.equal(Object.keys(field).join(' '), 'name type label default options optional strict help');
    }
  }
});

test('commands and links show the default values', () => {
  assert.equal(find('morning-brief').command, '/blueprint morning-brief time=08:00 deliver=origin');
  assert.equal(find('morning-brief').appUrl, 'hookwright://blueprint/morning-brief?time=08%3A00&deliver=origin');
  assert.equal(
    find('meal-plan').command,
    '/blueprint meal-plan diet="no restrictions" meals="dinner only" effort=quick time=17:00 day=sunday deliver=origin',
  );
  assert.equal(
    find('custom-reminder').command,
    '/blueprint custom-reminder what="take a break, stand up and stretch" time=14:00 recurrence=everyday deliver=origin',
  );
  assert.equal(
    find('custom-reminder').appUrl,
    'hookwright://blueprint/custom-reminder?what=take+a+break%2C+stand+up+and+stretch&time=14%3A00&recurrence=everyday&deliver=origin',
  );
});

test('another application scheme only changes the links', () => {
  const other = publish(shippedBlueprints(), 'acme');
  const relinked = catalog.map((entry) => ({ ...entry, appUrl: entry.appUrl.replace(/^hookwright:/, 'acme:') }));
  assert.deepEqual(other, relinked);
});

test('the catalog matches its schema, is sorted by key, and does not depend on the order of files', () => {
  assert.deepEqual(schemaValidator('catalog')(catalog), []);
  const keys = catalog.map((entry) => entry.key);
  assert.deepEqual(keys, [...keys].sort());
  assert.equal(printCatalog(publish([...shippedBlueprints()].reverse(), 'hookwright')), printCatalog(catalog));
});

test('the prompts are not published', () => {
  assert.ok(!printCatalog(catalog).includes('[SILENT]'));
});

test('every shipped file is valid and named after its key', () => {
  for (const name of blueprintFileNames()) {
    const file = readBlueprintFile(name);
    assert.equal(validateFile(file), true, name);
    assert.equal(`${file.key}.yaml`, name);
  }
});

test('a blueprint that watches for changes may stay silent', () => {
  for (const key of ['important-mail', 'news-digest', 'bill-renewal-watch']) {
    const plan = shippedBlueprints().find((one) => one.key === key);
    assert.match(plan?.prompt ?? '', /\[SILENT\]/, key);
  }
});
