/** The role of the page's credential: a viewer sees a note and no buttons that change something. */
import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Output } from '../api.ts';
import { logout } from '../api.ts';
import { useData } from './data.ts';
import { notify } from './notify.tsx';

export const Session = createContext<Output<'getSession'> | null>(null);

export const WithRole = ({ children }: { children: ComponentChildren }) => (
  <Session.Provider value={useData('getSession', {}, false).data}>{children}</Session.Provider>
);

const signOut = (): Promise<unknown> =>
  logout().catch(({ message }: Error) => notify(`Could not sign out: ${message}.`, 'bad'));

/** The viewer's note, and the button to sign out if the console has a token. */
export function Role() {
  const { role, signs_in } = useContext(Session) ?? {};
  return (
    <>
      {role === 'viewer' && <p class="dim small">You have read-only access.</p>}
      {signs_in && (
        <button type="button" onClick={signOut}>
          Sign out
        </button>
      )}
    </>
  );
}
