/** Watches the open coalesce groups and releases each when it is due: its latest event then waits for a run. */
import type { Clock, Timer } from '../clock.ts';
import { untilDue } from '../coalesce/group.ts';
import type { Ref } from '../store/mutations.ts';
import type { Persister } from './persist.ts';
import type { RunnableDispatch } from './run-loop.ts';

/** An open group: who is waiting in it, and until when. */
export interface WatchedGroup {
  readonly key: string;
  readonly work: RunnableDispatch & { readonly route: string };
  /** Unix ms. */
  readonly due_at: number;
  readonly max_wait_ms: number;
}

export interface GroupTimersParts {
  readonly clock: Clock;
  readonly persister: Persister;
  readonly release: (work: RunnableDispatch) => void;
  /** A later event waits in its place: this one has ended. */
  readonly replaced: (ref: Ref) => void;
  readonly due?: () => void;
}

export class GroupTimers {
  private readonly watched = new Map<string, { readonly group: WatchedGroup; readonly timer: Timer }>();
  private readonly parts: GroupTimersParts;

  constructor(parts: GroupTimersParts) {
    this.parts = parts;
  }

  get size(): number {
    return this.watched.size;
  }

  /** Watches a group, or its later due time. An older event than the one watched changes nothing. */
  watch(group: WatchedGroup): void {
    const name = nameOf(group);
    const known = this.watched.get(name);
    if (known !== undefined && known.group.work.ref > group.work.ref) return;
    known?.timer.cancel();
    if (known !== undefined && known.group.work.ref !== group.work.ref) this.parts.replaced(known.group.work.ref);
    const { clock } = this.parts;
    const timer = clock.after(untilDue(group, clock.now()), () => {
      this.parts.due?.();
      void this.release(group).catch(() => {
        // Stopped while the store was unavailable: the group is due again after the next start.
      });
    });
    this.watched.set(name, { group, timer });
  }

  /** Releases all groups at once (§3.2: a stop drops nothing). Rejects when the store cannot. */
  async flush(): Promise<void> {
    const groups = [...this.watched.values()];
    for (const { timer } of groups) timer.cancel();
    await Promise.all(groups.map(({ group }) => this.release(group)));
  }

  private async release(group: WatchedGroup): Promise<void> {
    const { clock, persister } = this.parts;
    const { profile, route, ref } = group.work;
    const released = await persister.write({
      ...{ kind: 'release', profile, route, key: group.key, ref, now: clock.now() },
    });
    const name = nameOf(group);
    if (this.watched.get(name)?.group.work.ref === ref) this.watched.delete(name);
    // False: an event came in between and waits in the group now; it is watched by itself.
    if (released) this.parts.release(group.work);
  }
}

const nameOf = ({ key, work }: { readonly key: string; readonly work: { profile: string; route: string; ref: Ref } }) =>
  JSON.stringify([work.profile, work.route, key]);
