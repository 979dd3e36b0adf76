/** Reads values of a foreign config, whose types are unknown. */
import { isPlainMap } from '../../../compiler/text/plain-map.ts';
import type { Settings } from './draft.ts';

export const asMap = (value: unknown): Settings => (isPlainMap(value) ? (value as Settings) : {});

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
