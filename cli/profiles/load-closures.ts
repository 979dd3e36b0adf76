/** The closures of all profiles that the gateway knows, subscriptions included. */
import type { SubscriptionScope } from '../../compiler/stages/compile-subscriptions.ts';
import { compileSubscriptions } from '../../compiler/stages/compile-subscriptions.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import { readSubscriptionText } from '../subscriptions/subscription-file.ts';
import type { ProfileClosure } from './closure.ts';
import { profileClosures } from './closure.ts';

/** A subscriptions file that cannot be read adds nothing: the gateway would not serve it either. */
export function loadClosures(
  home: string,
  scope: SubscriptionScope & { readonly table: RouteTable },
): ProfileClosure[] {
  return profileClosures(scope.table, dynamicRoutes(home, scope));
}

function dynamicRoutes(home: string, scope: SubscriptionScope) {
  try {
    return compileSubscriptions(readSubscriptionText(home), scope).routes;
  } catch {
    return [];
  }
}
