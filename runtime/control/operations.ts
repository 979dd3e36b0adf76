/**
 * The operations of a running gateway over its control socket. `operations.yaml` of `schemas/` and of modules describe them;
 * the gateway implements them, and commands and the console call them by name.
 */
import type { ControlContract, OperationOwners } from '../../schemas/built/operations/types.ts';

export type ControlName = keyof ControlContract;

type AllHandlers = {
  readonly [Name in ControlName]: (
    input: ControlContract[Name]['input'],
  ) => ControlContract[Name]['output'] | Promise<ControlContract[Name]['output']>;
};

export type ControlHandlers = Partial<AllHandlers>;

/** The handlers of the core, or of a module: all that its `operations.yaml` describes. */
export type HandlersOf<Owner extends keyof OperationOwners> = Pick<AllHandlers, OperationOwners[Owner]>;

/** Reasons for which a swap of tables can be rejected. */
export const FAIL_ON = ['lost', 'changed'] as const;
