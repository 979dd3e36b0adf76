/** Reads the program that a conversion of hooks brings along to run their commands. */
import { readFileSync } from 'node:fs';

export const readHookRunner = (): string => readFileSync(new URL('./run-hook.mjs', import.meta.url), 'utf8');
