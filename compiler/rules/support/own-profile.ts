/** Tells routes of other profiles from those of the default one. */

import { DEFAULT_PROFILE } from '../../../base/profiles.ts';
import type { RouteView } from '../../views/route-scope.ts';

/** What such a route lacks is an error (`profile-incomplete`), and not a warning of another rule. */
export const hasOwnProfile = ({ profile }: RouteView): boolean => profile !== DEFAULT_PROFILE;
