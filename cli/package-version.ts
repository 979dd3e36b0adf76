/** This program's version. */
import { readFileSync } from 'node:fs';
import { isSystemError } from './errors.ts';

/** The version in package.json: two folders up from the built file, one from the source. */
export function packageVersion(): string {
  for (const up of ['../package.json', '../../package.json']) {
    try {
      const { version } = JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as {
        readonly version: string;
      };
      return version;
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
  }
  return 'unknown';
}
