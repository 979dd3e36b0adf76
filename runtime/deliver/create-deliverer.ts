/**
 * Delivers through linked targets: resolves addresses and respects the rate limits of services. The targets of a changed table
 * are linked first and then swapped in with one assignment.
 */
import { realTarget } from '../../base/spec-names.ts';
import { targetLabel } from '../../base/text.ts';
import type { FindDestination } from '../table/held-place.ts';
import { addressChanged } from '../table/held-place.ts';
import type { OwnLogin } from '../table/link-loop.ts';
import type {
  BoundTarget,
  Deliverer,
  DeliveryContext,
  DeliveryOutcome,
  DeliveryRequest,
  Driver,
  ShownDelivery,
} from './deliverer.ts';
import { failed } from './deliverer.ts';
import { DeliveryRefusal } from './http/values.ts';
import type { LinkedTarget, LinkedTargets } from './link-targets.ts';
import type { Redact } from './redact.ts';
import type { MirrorDelivery } from './sessions.ts';

export interface SwappableDeliverer extends Deliverer {
  use(linked: LinkedTargets): void;
  readonly place: FindDestination;
  readonly ownLogin: OwnLogin;
  /** The target with its credentials; null: it is not enabled. */
  readonly bound: (profile: string, target: string) => BoundTarget | null;
  /**
   * Returns the requests that `deliver` would send, without secrets. Rejects with DeliveryRefusal for a delivery that cannot be
   * made.
   */
  show(request: DeliveryRequest): Promise<readonly ShownDelivery[]>;
}

interface DelivererParts {
  readonly linked: LinkedTargets;
  readonly context: Pick<DeliveryContext, 'log'>;
  readonly mirror: MirrorDelivery;
  /** Replaces all known secrets in reported texts; a target knows only its own. Default: no replacement. */
  readonly redact?: Redact;
}

/** Creates the deliverer over these targets. Its `deliver` never rejects. */
export function createDeliverer(parts: DelivererParts): SwappableDeliverer {
  let linked = parts.linked;
  const { log } = parts.context;
  const { redact = (text) => text } = parts;

  /** Searches only the request's own profile, without fallback to another (§5.4). Older rows have the specification's names. */
  const find = (profile: string, target: string): LinkedTarget | undefined =>
    linked.get(profile)?.get(target) ?? linked.get(profile)?.get(realTarget(target));
  const driverOf = (profile: string, target: string): Driver | undefined => find(profile, target)?.driver;

  const place: FindDestination = (profile, target) => {
    const found = find(profile, target);
    if (found === undefined) return null;
    return { place: found.driver.place?.() ?? null, home: found.bound.homeChannel || null };
  };

  return {
    use(next) {
      linked = next;
    },
    place,
    bound: (profile, target) => find(profile, target)?.bound ?? null,
    ownLogin: (profile, target) => driverOf(profile, target)?.ownLogin?.() ?? null,
    isImmediate: (profile, target) => driverOf(profile, target)?.immediate === true,
    isEnabled: (profile, target) => driverOf(profile, target) !== undefined,
    refusal: (profile, delivery) => driverOf(profile, delivery.target)?.refusal?.(delivery) ?? null,
    async show(request) {
      const driver = driverOf(request.profile, request.target);
      if (driver === undefined) throw new DeliveryRefusal(notEnabled(request));
      return driver.show(request);
    },
    async deliver(request) {
      const driver = driverOf(request.profile, request.target);
      // The target was enabled when the event was accepted, and may be enabled again.
      if (driver === undefined) return failed('retry', notEnabled(request), { sent: request.sent });
      const { sent } = request;
      if (addressChanged(place, request))
        return failed('permanent', `${ADDRESS_CHANGED} ${request.place?.url ?? targetLabel(request)}`, { sent });
      try {
        const outcome = await driver.deliver(request);
        const chatId = outcome.kind === 'ok' && request.mirror_to_session ? driver.chatId(request) : null;
        if (chatId !== null) await parts.mirror({ ...request, chat_id: chatId });
        return shown(outcome, redact);
      } catch (error) {
        if (error instanceof DeliveryRefusal) return failed('permanent', redact(error.message), { sent });
        // A bug in hookwright, not a response of the service. Its message may quote anything, so only name and stack are logged.
        const { delivery_id } = request;
        log.error({ target: targetLabel(request), delivery_id, ...kindAndFrames(error) }, 'internal delivery error');
        return failed('ambiguous', 'internal error', { sent });
      }
    },
  };
}

/**
 * An approved message is sent only to the address that was shown. After a change, the event must be sent and approved again.
 */
const ADDRESS_CHANGED =
  'not sent: the target or its address has changed since the message was shown for approval; approved destination:';

function shown(outcome: DeliveryOutcome, redact: Redact): DeliveryOutcome {
  if (outcome.kind !== 'ok') return { ...outcome, reason: redact(outcome.reason) };
  return outcome.message_id === null ? outcome : { ...outcome, message_id: redact(outcome.message_id) };
}

const notEnabled = (request: Pick<DeliveryRequest, 'profile' | 'target' | 'label'>): string =>
  `the target ${targetLabel(request)} is not enabled in profile ${request.profile}`;

function kindAndFrames(error: unknown): { readonly error: string; readonly at: readonly string[] } {
  if (!(error instanceof Error)) return { error: typeof error, at: [] };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return { error: error.name, at: frames.slice(0, 5).map((line) => line.trim()) };
}
