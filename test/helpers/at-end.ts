/** Undoes the set-up of a test in reverse order: a gateway is stopped before its home is removed. */
import type { TestContext } from 'node:test';

/** The part of a test, or of a suite's hooks, that is needed here. */
export type Ending = Pick<TestContext, 'after'>;

const undos = new WeakMap<Ending, (() => unknown)[]>();

/** Calls `undo` when the test has ended. `t.after` would keep the order in which it was called. */
export function atEnd(t: Ending, undo: () => unknown): void {
  const known = undos.get(t);
  if (known !== undefined) {
    known.push(undo);
    return;
  }
  const list = [undo];
  undos.set(t, list);
  t.after(async () => {
    const errors: unknown[] = [];
    for (const each of list.reverse()) {
      try {
        await each();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  });
}
