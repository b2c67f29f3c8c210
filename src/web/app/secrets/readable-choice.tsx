import { AsyncContent } from '../ui/async-content.js';
import { useResource } from '../ui/use-resource.js';
import { requireData } from '../api-errors.js';
import { secretsClient } from './client.js';

interface ReadableChoiceProps {
  readonly isChosen: boolean;
  readonly onChosen: (isChosen: boolean) => void;
}

/** Returns the owner's public key; `undefined` before an identity exists. */
export const findOwnPublicKey = async (): Promise<string | undefined> =>
  requireData(await secretsClient.GET('/auth/identity')).public_key;

const load = async () => ({ key: await findOwnPublicKey() });

/** A checkbox that adds the owner to the recipients of a value. It is disabled until the owner has an identity. */
export function ReadableChoice({ isChosen, onChosen }: ReadableChoiceProps) {
  const own = useResource(load);
  return (
    <AsyncContent from={own}>
      {({ key }) => (
        <>
          <label class="choice">
            <input
              type="checkbox"
              disabled={key === undefined}
              checked={isChosen && key !== undefined}
              onChange={({ currentTarget }) => onChosen(currentTarget.checked)}
            />
            Encrypt it to my own key too, so that I can read it
          </label>
          {key === undefined && (
            <p class="quiet">
              You don’t have a key yet. <a href="/vault/identity">Create your key</a>
            </p>
          )}
        </>
      )}
    </AsyncContent>
  );
}
