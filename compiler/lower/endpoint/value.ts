/** The values that URL and body of `platforms.http` may hold. */
import type { ValueRef } from '../../../schemas/generated/types.ts';
import type { NodePath, Problem } from '../../diagnostics/problem.ts';

export type ReportValue = (path: NodePath, message: string, more?: Partial<Problem>) => void;

export const valueRef = (of: ValueRef['of'], name = ''): ValueRef => ({
  kind: 'value',
  of,
  name,
  optional: false,
  secret: false,
});
export const TEXT_VALUES = ['text', 'route', 'delivery_id'] as const;
export const ALL_VALUES = [...TEXT_VALUES, 'key', 'time'] as const;
export const isBuiltin = (name: string): name is (typeof TEXT_VALUES)[number] =>
  TEXT_VALUES.some((builtin) => builtin === name);
