# Unpacks the host archive into /tmp/evolver-host on a GPU machine and lays the working tree's packages over it, so that
# a change needs no new archive. Source it from the repository's root: `. tools/gpu/setup.sh`
set -e
for package in .gl/*.deb; do [ -e "$package" ] && dpkg -x "$package" /; done
ldconfig
mkdir -p /tmp/evolver-host
tar -C /tmp -xJf dist/evolver-host-linux-x64.tar.xz
cp -r packages tools examples /tmp/evolver-host/ 2>/dev/null || true
for package in packages/*/; do
  name=$(basename "$package")
  [ "$name" = cli ] || ln -sfn "../../packages/$name" "/tmp/evolver-host/node_modules/@evolver/$name"
done
[ -d dist/node_modules ] && cp -r dist/node_modules/. /tmp/evolver-host/node_modules/
driver=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
[ -e "$driver" ] && export VK_DRIVER_FILES=$driver
export PATH=/tmp/evolver-host:/tmp/evolver-host/bin:$PATH
set +e
