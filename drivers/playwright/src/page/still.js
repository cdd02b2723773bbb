// Waits until nothing moves: fonts are there, no animation that ends is running, and nothing has been
// changed, loaded or done for a while. From the first time on, a document is watched for good, so that a
// page that already rests is not waited for. Answers whether it rests, after how many milliseconds, whether
// anything moved from the start on, and whether anything is animated, be it for ever.
({ quiet, limit }) => new Promise(resolve => {
  const WATCH = Symbol.for('packtrain.watch');
  const EVENTS = ['pointerdown', 'pointerup', 'keydown', 'keyup', 'input', 'change', 'wheel', 'scroll', 'mouseover', 'focusin', 'load', 'resize', 'toggle'];
  const begun = performance.now();
  // A document that is opened anew loses its listeners and its root.
  if (window[WATCH]?.root !== document.documentElement) {
    window[WATCH]?.observer.disconnect();
    const watch = { last: begun, root: document.documentElement };
    const move = () => { watch.last = performance.now(); };
    // While a picture is taken, Playwright hides carets.
    const bare = style => (style ?? '').replace(/caret-color:[^;]*;?/, '').trim();
    const own = ({ type, attributeName, target, oldValue }) => type === 'attributes' && attributeName === 'style' &&
      bare(oldValue) === bare(target.getAttribute('style'));
    watch.observer = new MutationObserver(mutations => { if (!mutations.every(own)) move(); });
    watch.observer.observe(document, { subtree: true, childList: true, attributes: true, attributeOldValue: true, characterData: true });
    for (const event of EVENTS) addEventListener(event, move, { capture: true, passive: true });
    Object.defineProperty(window, WATCH, { value: watch, configurable: true });
  }
  const watch = window[WATCH];
  const ends = animation => {
    const { endTime } = animation.effect?.getComputedTiming() ?? {};
    return animation.playState === 'running' && Number.isFinite(Number(endTime));
  };
  const look = () => {
    const now = performance.now();
    const running = document.getAnimations().filter(animation => animation.playState === 'running');
    if (document.readyState === 'loading' || document.fonts.status === 'loading' || running.some(ends)) watch.last = now;
    const still = now - watch.last >= quiet;
    if (!still && now - begun < limit) { setTimeout(look, Math.max(1, Math.min(quiet - (now - watch.last), limit - (now - begun)))); return; }
    const moved = watch.last > begun;
    resolve({ still, moved, animated: running.length > 0, settled: moved ? watch.last - begun : 0 });
  };
  look();
})
