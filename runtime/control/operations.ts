/**
 * The operations of a running gateway over its control socket. `operations.yaml` of `schemas/` and of modules describe them;
 * the gateway implements them, and commands and the console call them by name.
 */
import type { ControlContract } from '../../schemas/built/operations/types.ts';

export type ControlName = keyof ControlContract;

export type ControlHandlers = {
  readonly [Name in ControlName]?: (
    input: ControlContract[Name]['input'],
  ) => ControlContract[Name]['output'] | Promise<ControlContract[Name]['output']>;
};

/** Reasons for which a swap of tables can be rejected. */
export const FAIL_ON = ['lost', 'changed'] as const;
