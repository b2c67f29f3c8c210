import { requireData } from '../api.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { listAllConsumers, secretsClient } from './secrets.js';

interface ConsumerPickerProps {
  readonly chosen: readonly string[];
  readonly onChosen: (names: readonly string[]) => void;
}

/** Selects the consumers of a value. Consumers without a public key are disabled, as nothing can be sealed to them. */
export function ConsumerPicker({ chosen, onChosen }: ConsumerPickerProps) {
  const consumers = useResource(listAllConsumers);
  return (
    <fieldset>
      <legend>Consumers</legend>
      <AsyncContent from={consumers}>
        {(list) => (
          <>
            {list.length === 0 && (
              <p>
                No consumers yet. <a href="/vault/consumers">Add one with its public key</a>, or encrypt the value to
                your own key.
              </p>
            )}
            {list.map(({ name, public_key }) => (
              <label key={name} class="choice">
                <input
                  type="checkbox"
                  disabled={public_key === undefined && !chosen.includes(name)}
                  checked={chosen.includes(name)}
                  onChange={({ currentTarget }) =>
                    onChosen(currentTarget.checked ? [...chosen, name] : chosen.filter((one) => one !== name))
                  }
                />
                {name}
                {public_key === undefined && <span class="quiet">no public key yet</span>}
              </label>
            ))}
          </>
        )}
      </AsyncContent>
    </fieldset>
  );
}

interface ReadableChoiceProps {
  /** Whether saving the form creates a missing key of the owner. */
  readonly canCreate?: boolean;
  readonly isChosen: boolean;
  readonly onChosen: (isChosen: boolean) => void;
}

/** Returns the owner's public key; `undefined` before an identity exists. */
export const findOwnPublicKey = async (): Promise<string | undefined> =>
  requireData(await secretsClient.GET('/auth/identity')).public_key;

/** Loads the owner's public key; the object tells a key that does not exist from one that is not loaded yet. */
export const loadOwnPublicKey = async () => ({ key: await findOwnPublicKey() });

/** A checkbox that adds the owner to the recipients of a value. Without `canCreate`, it requires an identity. */
export function ReadableChoice({ isChosen, onChosen, canCreate = false }: ReadableChoiceProps) {
  const own = useResource(loadOwnPublicKey);
  return (
    <AsyncContent from={own}>
      {({ key }) => (
        <>
          <label class="choice">
            <input
              type="checkbox"
              disabled={key === undefined && !canCreate}
              checked={isChosen && (key !== undefined || canCreate)}
              onChange={({ currentTarget }) => onChosen(currentTarget.checked)}
            />
            Encrypt it to my own key too, so that I can read it
          </label>
          {key === undefined && canCreate && (
            <p class="quiet">You don’t have a key yet. It is created when you save.</p>
          )}
          {key === undefined && !canCreate && (
            <p class="quiet">
              You don’t have a key yet. <a href="/vault/identity">Create your key</a>
            </p>
          )}
        </>
      )}
    </AsyncContent>
  );
}
