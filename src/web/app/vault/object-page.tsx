import { useCallback } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { Loaded } from '../shell/loaded.js';
import { useResource } from '../shell/use-resource.js';
import { useUnlocked } from './identity/use-unlocked.js';
import { listVariants } from './objects.js';
import { loadOwnKey } from './readable-choice.js';
import { Variant } from './variant.js';
import { VaultFrame } from './vault-frame.js';

const loadOwn = async () => ({ key: await loadOwnKey() });

export function ObjectPage() {
  const { slug = '' } = useRoute().params;
  const load = useCallback(() => listVariants(slug), [slug]);
  const variants = useResource(load);
  const unlocked = useUnlocked();
  const own = useResource(loadOwn);
  const { route } = useLocation();
  const leave = async (): Promise<void> => route('/vault', true);
  return (
    <VaultFrame title={slug}>
      <Loaded from={variants}>
        {(list) => (
          <>
            {list.length === 0 && (
              <p>
                No secret with this name. <a href="/vault">All secrets</a>
              </p>
            )}
            {list.length > 1 && (
              <p class="quiet">{list.length} variants share this name, each for different consumers.</p>
            )}
            {list.map((object) => (
              <Variant
                key={object.id}
                object={object}
                ownKey={own.value?.key}
                unlocked={unlocked}
                onChange={variants.reload}
                onDeleted={list.length > 1 ? variants.reload : leave}
              />
            ))}
          </>
        )}
      </Loaded>
    </VaultFrame>
  );
}
