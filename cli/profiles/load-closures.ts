/** The closures of all profiles that the gateway knows, subscriptions included. */
import { compileSubscriptions } from '../../compiler/compile-subscriptions.ts';
import type { MachineFacts } from '../../compiler/views/machine-facts.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import { readSubscriptionText } from '../subscriptions/subscription-file.ts';
import type { ProfileClosure } from './closure.ts';
import { profileClosures } from './closure.ts';

/** A subscriptions file that cannot be read adds nothing: the gateway would not serve it either. */
export function loadClosures(home: string, table: RouteTable, facts: MachineFacts): ProfileClosure[] {
  return profileClosures(table, dynamicRoutes(home, table, facts));
}

function dynamicRoutes(home: string, table: RouteTable, facts: MachineFacts) {
  try {
    return compileSubscriptions(readSubscriptionText(home), table, facts).routes;
  } catch {
    return [];
  }
}
