/** Reads the packages that describe payloads, installed in this folder with `npm ci`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ShapeOrigin } from '../../modules/payloads/compiler/shapes/shape.ts';

const FOLDER = fileURLToPath(new URL('node_modules', import.meta.url));

export const packagePath = (name: string, path = ''): string => join(FOLDER, name, path);

export const readPackageJson = (name: string, path: string): unknown =>
  JSON.parse(readFileSync(packagePath(name, path), 'utf8'));

export function originOf(name: string): ShapeOrigin {
  const { version, license } = readPackageJson(name, 'package.json') as { version: string; license: string };
  return { package: name, version, licence: license };
}
