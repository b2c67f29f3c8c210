import { Loaded } from '../shell/loaded.js';
import { useResource } from '../shell/use-resource.js';
import { requireAnswer } from '../answers.js';
import { secrets } from './client.js';

interface ReadableChoiceProps {
  readonly isChosen: boolean;
  readonly onChosen: (isChosen: boolean) => void;
}

export const loadOwnKey = async (): Promise<string | undefined> =>
  requireAnswer(await secrets.GET('/auth/identity')).public_key;

const load = async () => ({ key: await loadOwnKey() });

/** Whether the owner can read the value too, which takes an identity of theirs. */
export function ReadableChoice({ isChosen, onChosen }: ReadableChoiceProps) {
  const own = useResource(load);
  return (
    <Loaded from={own}>
      {({ key }) => (
        <>
          <label class="choice">
            <input
              type="checkbox"
              disabled={key === undefined}
              checked={isChosen && key !== undefined}
              onChange={({ currentTarget }) => onChosen(currentTarget.checked)}
            />
            Seal it to my own key too, so that I can read it
          </label>
          {key === undefined && (
            <p class="quiet">
              That takes an identity of yours, and there is none yet. <a href="/vault/identity">Make one</a>
            </p>
          )}
        </>
      )}
    </Loaded>
  );
}
