/** The role of the page's credential: a viewer sees a note and no buttons that change something. */
import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Output } from '../api.ts';
import { logout } from '../api.ts';
import { useData } from './data.ts';
import { notify } from './notify.tsx';

export const Session = createContext<Output<'getSession'> | null>(null);

export function WithRole({ children }: { children: ComponentChildren }) {
  const { data } = useData('getSession', {}, false);
  return <Session.Provider value={data}>{children}</Session.Provider>;
}

/** The name of the gateway. */
export const useName = (): string => useContext(Session)?.name ?? 'hookwright';

const signOut = (): Promise<unknown> =>
  logout().catch(({ message }: Error) => notify(`Could not sign out: ${message}.`, 'bad'));

/** The person, the viewer's note, and the button to sign out if the console has a token. */
export function Role() {
  const { role, user, signs_in } = useContext(Session) ?? {};
  return (
    <div class="who">
      {user && <p class="dim small">Signed in as {user}</p>}
      {role === 'viewer' && <p class="dim small">You have read-only access.</p>}
      {signs_in && (
        <button type="button" onClick={signOut}>
          Sign out
        </button>
      )}
    </div>
  );
}
