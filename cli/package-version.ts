/** This program's version. */
import { readFileSync } from 'node:fs';
import { isSystemError } from '../base/system-error.ts';

/** The version in package.json: one folder up from the source, three from the part of the built program this is in. */
export function packageVersion(): string {
  for (const up of ['../package.json', '../../../package.json']) {
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
