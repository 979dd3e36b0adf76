/** Private files must not reach the build of an image, because its cache and layers are copied to others. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { ROOT } from '../helpers/root.ts';

test('.dockerignore excludes the folders that compose.yaml mounts, and .env', () => {
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
  const { volumes } = parse(readFileSync(join(ROOT, 'compose.yaml'), 'utf8')).services.hookwright;
  const folders = (volumes as string[]).flatMap((volume) => /^\.\/([^:]+):/.exec(volume)?.[1] ?? []);
  assert.deepEqual(folders, ['config']);
  for (const name of [...folders, '**/.env', '**/.env.*']) assert.ok(ignored.includes(name), name);
});
