import type { ComponentChildren } from 'preact';
import { requireData } from '../api.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { listAllConsumers, secretsClient } from './secrets.js';

/** Returns the owner's public key; `undefined` before an identity exists. */
export const findOwnPublicKey = async (): Promise<string | undefined> =>
  requireData(await secretsClient.GET('/auth/identity')).public_key;

/** Loads the owner's public key; the object distinguishes a missing key from one that is not loaded yet. */
export const loadOwnPublicKey = async () => ({ key: await findOwnPublicKey() });

/** Loads the possible readers together, so that one error covers them. */
async function loadReaders() {
  const [consumers, ownKey] = await Promise.all([listAllConsumers(), findOwnPublicKey()]);
  return { consumers, ownKey };
}

interface ReaderPickerProps {
  /** The names of the selected consumers. */
  readonly usedBy: readonly string[];
  readonly onUsedBy: (names: readonly string[]) => void;
  /** Whether the owner is a reader too. */
  readonly isReadable: boolean;
  readonly onReadable: (isReadable: boolean) => void;
  /** Whether saving the form creates a missing key of the owner. */
  readonly canCreate?: boolean;
  /** Further readers, between the consumers and the owner. */
  readonly children?: (hasConsumers: boolean) => ComponentChildren;
}

/** Selects the readers of a value: consumers and the owner. Those without a public key can't be selected. */
export function ReaderPicker(props: ReaderPickerProps) {
  const { usedBy, onUsedBy, isReadable, onReadable, canCreate = false, children } = props;
  const readers = useResource(loadReaders);
  return (
    <fieldset>
      <legend>Readers</legend>
      <AsyncContent from={readers}>
        {({ consumers, ownKey }) => (
          <>
            {consumers.length === 0 && (
              <p>
                No consumers yet. <a href="/vault/consumers">Add one with its public key</a>, or encrypt the value to
                your own key.
              </p>
            )}
            {consumers.map(({ name, public_key }) => (
              <label key={name} class="choice">
                <input
                  type="checkbox"
                  disabled={public_key === undefined && !usedBy.includes(name)}
                  checked={usedBy.includes(name)}
                  onChange={({ currentTarget }) =>
                    onUsedBy(currentTarget.checked ? [...usedBy, name] : usedBy.filter((one) => one !== name))
                  }
                />
                {name}
                {public_key === undefined && <span class="quiet">no public key yet</span>}
              </label>
            ))}
            {children?.(consumers.length > 0)}
            <label class="choice">
              <input
                type="checkbox"
                disabled={ownKey === undefined && !canCreate}
                checked={isReadable && (ownKey !== undefined || canCreate)}
                onChange={({ currentTarget }) => onReadable(currentTarget.checked)}
              />
              Encrypt it to my own key too, so that I can read it
            </label>
            {ownKey === undefined && <MissingKey canCreate={canCreate} />}
          </>
        )}
      </AsyncContent>
    </fieldset>
  );
}

const MissingKey = ({ canCreate }: { readonly canCreate: boolean }) => (
  <p class="quiet">
    You don’t have a key yet.{' '}
    {canCreate ? 'It is created when you save.' : <a href="/vault/identity">Create your key</a>}
  </p>
);
