/** Distinguishes routes of other profiles from those of the default profile. */

import { DEFAULT_PROFILE } from '../../../base/profiles.ts';
import type { RouteView } from '../../views/views.ts';

/** Missing parts of such a route are errors (`profile-incomplete`) and not warnings of other rules. */
export const hasOwnProfile = ({ profile }: RouteView): boolean => profile !== DEFAULT_PROFILE;
