/** The file in which a program tells what its run has used. It is the program's own: whatever is wrong with it, nothing is told. */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readRegularText } from '../../../base/read-regular-file.ts';
import { tryParseJson } from '../../../base/try-parse-json.ts';
import type { Usage } from '../../store/usage.ts';
import { toUsage } from '../../store/usage.ts';

const MAX_BYTES = 64 * 1024;

/** A path that no other run has. @param folder that the program works in */
export const usagePath = (folder: string): string => join(folder, `.hookwright-usage-${randomUUID()}.json`);

/** Reads the file and removes it; null when it is not there, or tells nothing. Never rejects. */
export async function takeUsage(path: string): Promise<Usage | null> {
  const text = await readRegularText(path, MAX_BYTES).catch(() => null);
  if (text === null) return null;
  await rm(path, { force: true }).catch(() => {});
  const told = tryParseJson(text);
  if (typeof told !== 'object' || told === null) return null;
  const { input_tokens, output_tokens, cost } = told as Readonly<Record<string, unknown>>;
  return toUsage(input_tokens, output_tokens, cost);
}
