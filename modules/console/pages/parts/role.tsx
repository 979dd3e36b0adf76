/** What the credential of this page may do: a viewer is shown no button that changes something. */
import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { logout } from '../api.ts';
import { useData } from './data.ts';

const MayChange = createContext(false);
const SignsIn = createContext(false);

export function WithRole({ children }: { children: ComponentChildren }) {
  const { data } = useData('getSession', {}, false);
  return (
    <SignsIn.Provider value={data?.signs_in === true}>
      <MayChange.Provider value={data?.role === 'operator'}>{children}</MayChange.Provider>
    </SignsIn.Provider>
  );
}

/** Nothing where the console has no token. */
export const SignOut = () =>
  useContext(SignsIn) ? (
    <button type="button" onClick={() => void logout()}>
      Sign out
    </button>
  ) : null;

/** What only an operator may use. */
export const Operator = ({ children }: { children: ComponentChildren }) => (useContext(MayChange) ? children : null);
